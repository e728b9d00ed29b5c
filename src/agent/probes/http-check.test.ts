import type { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { checkHttp } from "./http-check.ts";

test.each(["//192.0.2.1/x", "/\\\\192.0.2.1/x", "http://192.0.2.1/x", "@192.0.2.1/", "ready?a=b"])(
  "an HTTP probe asks its pod, whatever the path %j looks like",
  async (path) => {
    const dialled: string[] = [];
    const dial = (host: string, port: number): Promise<Duplex> => {
      dialled.push(`${host}:${String(port)}`);
      return Promise.reject(new Error("nothing answers here"));
    };
    const action = { path, port: 8080 };

    const check = checkHttp({
      action,
      host: "10.0.0.1",
      port: 8080,
      dial,
      signal: new AbortController().signal,
    });

    await expect(check).rejects.toThrow("nothing answers here");
    expect(dialled).toEqual(["10.0.0.1:8080"]);
  },
);
