import { describe, expect, test } from "vitest";
import { findProcessImage, missingImageText, parseProcessImage, resolveCommand } from "./process-images.ts";

const NGINX = parseProcessImage("nginx=/usr/sbin/nginx -g 'daemon off;'");

describe("an image mapping", () => {
  test("has a program and its arguments", () => {
    expect(NGINX).toEqual({ name: "nginx", entrypoint: "/usr/sbin/nginx", args: ["-g", "daemon off;"] });
  });

  test.each(["nginx", "=x", "nginx=", "nginx=  ", "nginx='x"])(
    "is refused as %j, with an example",
    (text) => {
      expect(() => parseProcessImage(text)).toThrow("expected IMAGE=COMMAND, for example nginx=");
    },
  );

  test.each(["nginx", "nginx:1.27", "docker.io/library/nginx:1.27", "localhost:5000/nginx@sha256:00"])(
    "applies to %s",
    (image) => {
      expect(findProcessImage([NGINX], image)).toBe(NGINX);
    },
  );

  test("with a tag comes before one without", () => {
    const old = parseProcessImage("nginx:1.26=/opt/nginx-1.26");

    expect(findProcessImage([NGINX, old], "nginx:1.26")).toBe(old);
    expect(findProcessImage([NGINX, old], "nginx:1.27")).toBe(NGINX);
    expect(findProcessImage([NGINX, old], "apache")).toBeUndefined();
  });
});

describe("the command of a container", () => {
  test("is its own, whatever the image", () => {
    expect(resolveCommand(NGINX, { command: ["sh", "-c"], args: ["true"] })).toEqual(["sh", "-c", "true"]);
  });

  test("is that of the image, with the container's arguments in place of the image's", () => {
    expect(resolveCommand(NGINX, { command: [], args: [] })).toEqual([
      "/usr/sbin/nginx",
      "-g",
      "daemon off;",
    ]);
    expect(resolveCommand(NGINX, { command: [], args: ["-t"] })).toEqual(["/usr/sbin/nginx", "-t"]);
  });

  test("is missing without both, and the message says what to do", () => {
    expect(resolveCommand(undefined, { command: [], args: ["x"] })).toBeUndefined();
    expect(missingImageText("web")).toContain("--process-image 'web=COMMAND'");
  });
});
