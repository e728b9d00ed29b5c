import { describe, expect, test } from "vitest";
import { silentLog } from "../base/log/log.ts";
import { UsageError, type Arguments, type Io } from "./command.ts";
import { parseListen } from "./listen.ts";
import { streamsWith } from "./streams-fixture.ts";
import { parseClusterOptions } from "./up.ts";

describe("parseClusterOptions", () => {
  test("without options state is in ~/.setpoint, in a file store", () => {
    expect(parseClusterOptions(io(), args())).toEqual({
      name: "setpoint",
      dataDir: "/home/user/.setpoint",
      store: { type: "file" },
      listen: { host: "127.0.0.1", port: 6443 },
      restoreFile: undefined,
      kubeconfigFile: "/home/user/.kube/config",
      pkiDir: "/home/user/.setpoint/pki",
      runtimeConfig: {},
      serviceCidrs: ["10.96.0.0/12"],
      nodePorts: { first: 30_000, last: 32_767 },
      admission: { enabled: [], disabled: [] },
      fairness: { isOn: true, maxReadsInFlight: 400, maxWritesInFlight: 200 },
      loops: "all",
      nodes: 3,
      podCidrs: ["10.128.0.0/9"],
      allocatesNodeCidrs: true,
    });
  });

  test("--allocate-node-cidrs=false leaves the addresses of pods to others", () => {
    expect(parseClusterOptions(io(), args({ allocateNodeCidrs: "false" })).allocatesNodeCidrs).toBe(false);
  });

  test("$SETPOINT_HOME is the data dir when none is given", () => {
    expect(parseClusterOptions(io({ SETPOINT_HOME: "/srv/state" }), args()).dataDir).toBe("/srv/state");
  });

  test("an empty $SETPOINT_HOME counts as unset", () => {
    expect(parseClusterOptions(io({ SETPOINT_HOME: "" }), args()).dataDir).toBe("/home/user/.setpoint");
  });

  test("a named cluster has a data dir of its own", () => {
    expect(parseClusterOptions(io(), args({ name: "dev" }))).toMatchObject({
      name: "dev",
      dataDir: "/home/user/.setpoint/clusters/dev",
    });
    expect(parseClusterOptions(io(), args({ name: "dev", dataDir: "here" })).dataDir).toBe("/current/here");
    expect(() => parseClusterOptions(io(), args({ name: "../x" }))).toThrow("--name must be");
  });

  test("--data-dir wins, and relative paths start at the working folder", () => {
    const options = parseClusterOptions(
      io({ SETPOINT_HOME: "/srv" }),
      args({ dataDir: "here", restore: "old.db" }),
    );

    expect(options).toMatchObject({ dataDir: "/current/here", restoreFile: "/current/old.db" });
  });

  test("etcd options are taken over", () => {
    const { store } = parseClusterOptions(
      io(),
      args({
        store: "etcd",
        etcdEndpoints: "https://a:2379, https://b:2379",
        etcdCafile: "ca.pem",
        etcdCertfile: "cert.pem",
        etcdKeyfile: "/keys/key.pem",
        etcdUser: "root",
        etcdPasswordFile: "password",
      }),
    );

    expect(store).toEqual({
      type: "etcd",
      etcd: {
        endpoints: ["https://a:2379", "https://b:2379"],
        caFile: "/current/ca.pem",
        certFile: "/current/cert.pem",
        keyFile: "/keys/key.pem",
        user: "root",
        passwordFile: "/current/password",
      },
    });
  });

  test.each([
    [{ etcdEndpoints: "a:2379" }, "must be http or https URLs"],
    [{ etcdEndpoints: "http://a:2379," }, 'found ""'],
    [
      { etcdEndpoints: "http://a", etcdCertfile: "c" },
      "--etcd-certfile and --etcd-keyfile must be given together",
    ],
    [
      { etcdEndpoints: "http://a", etcdPasswordFile: "p" },
      "--etcd-user and --etcd-password-file must be given",
    ],
  ])("etcd options %j are refused", (options, message) => {
    const parse = () => parseClusterOptions(io(), args({ store: "etcd", ...options }));

    expect(parse).toThrow(UsageError);
    expect(parse).toThrow(message);
  });
});

describe("the default address", () => {
  const portOf = (name: string): number => parseClusterOptions(io(), args({ name })).listen.port;

  test("of a named cluster has a port of its own, the same each time", () => {
    const ports = ["setpoint", "dev", "staging"].map(portOf);

    expect(ports[0]).toBe(6443);
    expect(new Set(ports).size).toBe(3);
    expect(portOf("dev")).toBe(ports[1]);
    expect(ports.every((port) => port >= 6443 && port <= 7443)).toBe(true);
  });
});

describe("parseListen", () => {
  test.each([
    ["127.0.0.1:0", { host: "127.0.0.1", port: 0 }],
    ["localhost:65535", { host: "localhost", port: 65_535 }],
    ["[::1]:6443", { host: "::1", port: 6443 }],
  ])("%s is an address", (text, address) => {
    expect(parseListen(text)).toEqual(address);
  });

  test.each(["", "6443", ":6443", "host:", "host:65536", "host:-1", "host:1e3", "::1:6443", "[::1]"])(
    '"%s" is refused',
    (text) => {
      expect(() => parseListen(text)).toThrow(UsageError);
    },
  );
});

function args(options: Arguments["options"] = {}): Arguments {
  return { operands: {}, rest: [], options: { store: "file", ...options } };
}

function io(env: Io["env"] = {}): Io {
  return {
    stdout: () => undefined,
    stderr: () => undefined,
    exit: () => undefined,
    log: silentLog,
    env,
    streams: () => streamsWith(),
    homeDir: "/home/user",
    workingDir: "/current",
    programFile: "/setpoint/dist/cli.js",
    signal: new AbortController().signal,
  };
}
