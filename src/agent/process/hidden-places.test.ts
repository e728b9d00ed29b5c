import { describe, expect, test } from "vitest";
import { parseMounts } from "../../base/process/mount-table.ts";
import { placesOf } from "./hidden-places.ts";

const MOUNTS = parseMounts(
  [
    "20 1 8:1 / / rw - ext4 /dev/sda1 rw",
    "21 20 8:2 / /home rw - ext4 /dev/sda2 rw",
    "22 20 8:2 / /mnt/again rw - ext4 /dev/sda2 rw",
    "23 20 8:2 /jo /srv/my\\040files rw - ext4 /dev/sda2 rw",
    "24 20 8:2 /jo/.setpoint/pki /srv/pki rw - ext4 /dev/sda2 rw",
    "25 20 8:2 /ann /srv/ann rw - ext4 /dev/sda2 rw",
    "26 20 8:2 / /covered rw - ext4 /dev/sda2 rw",
    "27 26 0:9 / /covered rw - tmpfs tmpfs rw",
    "28 21 0:8 / /home/jo/.setpoint/pods/7 rw - tmpfs tmpfs rw",
    "",
  ].join("\n"),
);

describe("the places of a folder", () => {
  test("are in all mounts of its file system that show it or a part of it", () => {
    expect(placesOf("/home/jo/.setpoint", MOUNTS)).toEqual([
      "/home/jo/.setpoint",
      "/mnt/again/jo/.setpoint",
      "/srv/my files/.setpoint",
      "/srv/pki",
    ]);
  });

  test("are one for a folder whose file system is mounted once", () => {
    expect(placesOf("/var/data", MOUNTS)).toEqual(["/var/data"]);
  });
});
