import { expect, test } from "vitest";
import { treeText } from "./tree-text.ts";

const TREE = [
  {
    text: "jo created Deployment web",
    time: "14:02:11.204",
    mark: "rev 1",
    children: [
      { text: "created ReplicaSet web-7758cfff", time: "14:02:11.300", mark: "rev 2" },
      { text: "kubelet reported Running", mark: "pass 7" },
    ],
  },
];

test("times and marks stand in columns", () => {
  expect(treeText(TREE)).toBe(
    [
      "  jo created Deployment web          14:02:11.204  rev 1",
      "  ├ created ReplicaSet web-7758cfff  14:02:11.300  rev 2",
      "  └ kubelet reported Running                       pass 7",
      "",
    ].join("\n"),
  );
});

test("a narrow terminal breaks the texts at spaces, and keeps the columns", () => {
  expect(treeText(TREE, 50)).toBe(
    [
      "  jo created Deployment web   14:02:11.204  rev 1",
      "  ├ created ReplicaSet        14:02:11.300  rev 2",
      "  │   web-7758cfff",
      "  └ kubelet reported Running                pass 7",
      "",
    ].join("\n"),
  );
});

test("wide characters take two columns", () => {
  const [wide = "", narrow = ""] = treeText([
    { text: "世界", mark: "rev 1" },
    { text: "abcdef", mark: "rev 2" },
  ]).split("\n");

  expect(wide.indexOf("rev")).toBe(narrow.indexOf("rev") - 2);
});
