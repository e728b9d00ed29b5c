import { describe, expect, test } from "vitest";
import { PageLinks } from "./page-links.ts";

const relink = (link: string): string => (link.startsWith("/") ? `/base${link}` : link);

/** Output for a page that arrives in chunks of this size. */
function changed(page: string, size = page.length): string {
  const links = new PageLinks(relink);
  let out = "";
  for (let at = 0; at < page.length; at += size) out += links.push(page.slice(at, at + size));
  return out + links.finish();
}

describe("PageLinks", () => {
  test.each([
    ['<a href="/x">test</a>', '<a href="/base/x">test</a>'],
    ["<A class=b HREF = '/x'>", "<A class=b HREF = '/base/x'>"],
    ["<img src=/x.png/>", "<img src=/base/x.png/>"],
    ['<img\n src="/a" usemap="/b" alt="/c">', '<img\n src="/base/a" usemap="/base/b" alt="/c">'],
    ['<a title="a > b" href="/x">', '<a title="a > b" href="/base/x">'],
    ['<script src="/x.js"></script><a href="/y">', '<script src="/base/x.js"></script><a href="/base/y">'],
  ])("%s becomes %s, wherever chunks split it", (page, expected) => {
    for (let size = 1; size <= page.length; size++) expect(changed(page, size)).toBe(expected);
  });

  test.each([
    '<a href="x">, <a href="#x"> and <a name="/x">',
    '<p href="/x">',
    '<!-- <a href="/x"> -->',
    "<script>document.write('<a href=\"/x\">')</script>",
    '<TEXTAREA><a href="/x"></TEXTAREA>',
    "1 < 2 <",
    '<a href="/x"',
    "<!doctype html><p>é</p>",
  ])("a page without links to rewrite stays the same: %s", (page) => {
    for (let size = 1; size <= page.length; size++) expect(changed(page, size)).toBe(page);
  });

  test("PageLinks does not wait for the end of an overlong tag", () => {
    const links = new PageLinks(relink);
    const endless = `<a ${"x".repeat(20_000)}`;

    expect(links.push(endless) + links.push('><a href="/x">')).toBe(`${endless}><a href="/base/x">`);
  });
});
