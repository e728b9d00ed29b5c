import { describe, expect, test } from "vitest";
import { KindProbe, type Manifest } from "../../rules/kind-probe.ts";
import { pod } from "../pod.ts";

const probe = new KindProbe(pod);
const AT = "spec.volumes[0]";
const problems = (source: Manifest): readonly string[] =>
  probe.problems({ spec: { containers: [{ name: "a", image: "a" }], volumes: [{ name: "v", ...source }] } });

describe("a volume of a storage system", () => {
  const iscsi = { targetPortal: "1.2.3.4", iqn: "iqn.2015-02.example.com:test", lun: 1 };
  const disk = { diskName: "d", diskURI: "https://x" };

  test.each<Manifest>([
    { nfs: { server: "s", path: "/a" } },
    { iscsi },
    { fc: { targetWWNs: ["w"], lun: 1 } },
    { azureDisk: disk },
    { azureDisk: { ...disk, kind: "Managed", diskURI: "/subscriptions/x" } },
    { quobyte: { registry: "a:1,b:2", volume: "v" } },
    { storageos: { volumeName: "v" } },
    { flexVolume: { driver: "d", options: { "example.com/a": "b" } } },
    { csi: { driver: "csi.example.com" } },
    { cinder: { volumeID: "v" } },
    { gcePersistentDisk: { pdName: "d", partition: 1 } },
  ])("%o is valid", (source) => {
    expect(problems(source)).toEqual([]);
  });

  test.each<[Manifest, string]>([
    [
      { iscsi: { ...iscsi, iqn: "x" } },
      `${AT}.iscsi.iqn: Invalid value: "x": must be valid format starting with iqn, eui, or naa`,
    ],
    [
      { iscsi: { ...iscsi, lun: 256 } },
      `${AT}.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive`,
    ],
    [{ iscsi: { ...iscsi, chapAuthSession: true } }, `${AT}.iscsi.secretRef: Required value`],
    [
      { fc: {} },
      `${AT}.fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both`,
    ],
    [
      { fc: { targetWWNs: ["w"] } },
      `${AT}.fc.lun: Required value: lun is required if targetWWNs is specified`,
    ],
    [
      { azureDisk: { ...disk, cachingMode: "Some" } },
      `${AT}.azureDisk.cachingMode: Unsupported value: "Some": supported values: "None", "ReadOnly", "ReadWrite"`,
    ],
    [
      { quobyte: { registry: "a", volume: "v" } },
      `${AT}.quobyte.registry: Invalid value: "a": must be a host:port pair or multiple pairs separated by commas`,
    ],
    [{ storageos: { volumeName: "v", secretRef: {} } }, `${AT}.storageos.secretRef.name: Required value`],
    [
      { flexVolume: { driver: "d", options: { "kubernetes.io/a": "b" } } },
      `${AT}.flexVolume.options[kubernetes.io/a]: Invalid value: "kubernetes.io/a": kubernetes.io and k8s.io namespaces are reserved`,
    ],
    [{ flocker: {} }, `${AT}.flocker: Required value: one of datasetName and datasetUUID is required`],
    [
      { gitRepo: { repository: "r", directory: "../x" } },
      `${AT}.gitRepo.directory: Invalid value: "../x": must not contain '..'`,
    ],
    [{ scaleIO: { gateway: "g", system: "s" } }, `${AT}.scaleIO.volumeName: Required value`],
    [
      { awsElasticBlockStore: { volumeID: "v", partition: 256 } },
      `${AT}.awsElasticBlockStore.partition: Invalid value: 256: must be between 0 and 255, inclusive`,
    ],
    [
      { csi: { driver: "d", nodePublishSecretRef: {} } },
      `${AT}.csi.nodePublishSecretRef.name: Required value`,
    ],
  ])("%o is refused", (source, problem) => {
    expect(problems(source)).toContain(problem);
  });
});

describe("a projected volume", () => {
  const projected = (...sources: readonly Manifest[]): readonly string[] =>
    problems({ projected: { sources } });
  const items = [{ key: "k", path: "p" }];

  test("has several sources", () => {
    expect(projected({ secret: { name: "s", items } }, { configMap: { name: "c" } })).toEqual([]);
  });

  test.each<[readonly Manifest[], string]>([
    [
      [{ secret: { name: "s", items } }, { configMap: { name: "c", items } }],
      `${AT}.projected: Invalid value: "c": conflicting duplicate paths`,
    ],
    [
      [{ serviceAccountToken: { path: "t", expirationSeconds: 5 } }],
      `${AT}.projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes`,
    ],
    [
      [{ clusterTrustBundle: { path: "p" } }],
      `${AT}.projected.sources[0].clusterTrustBundle: Required value: either name or signerName must be specified`,
    ],
    [
      [{ podCertificate: { signerName: "a.io/b", keyType: "ED25519" } }],
      `${AT}.projected.sources[0].podCertificate: Required value: specify at least one of credentialBundlePath, keyPath, and certificateChainPath`,
    ],
    [[{ secret: {} }], `${AT}.projected.sources[0].secret.name: Required value`],
  ])("refuses %o", (sources, problem) => {
    expect(projected(...sources)).toContain(problem);
  });
});
