import { expect, test } from "vitest";
import { restTarget } from "./rest-target.ts";

test.each([
  ["https://hook.example//deny", "https://hook.example/deny"],
  ["https://hook.example/a//b/", "https://hook.example/a/b"],
  ["https://hook.example/a/./b/../c", "https://hook.example/a/c"],
  ["https://hook.example/a/%2e%2e/b", "https://hook.example/b"],
  ["https://hook.example", "https://hook.example/"],
  ["https://hook.example:8443//", "https://hook.example:8443/"],
  ["https://hook.example/a%2Fb", "https://hook.example/a/b"],
  ["https://hook.example/a%ffb%20c!(d)", "https://hook.example/a%FFb%20c%21%28d%29"],
  ["https://hook.example/ä:@&=+$,;~", "https://hook.example/%C3%A4:@&=+$,;~"],
  ["https://hook.example/a?b=c#d", "https://hook.example/a"],
  ["https://hook.example/..", "https://hook.example/"],
  ["not a URL", "not a URL"],
])("%s is called as %s", (url, cleaned) => {
  expect(restTarget({ type: "url", url })).toEqual({ type: "url", url: cleaned });
});

test.each([
  ["", "/"],
  ["deny/", "/deny"],
  ["//deny//now", "/deny/now"],
  ["/a%2Fb", "/a%252Fb"],
])("the path %s of a Service is called as %s", (path, cleaned) => {
  const service = { type: "service", namespace: "system", name: "hook", port: 443 } as const;

  expect(restTarget({ ...service, path })).toEqual({ ...service, path: cleaned });
});
