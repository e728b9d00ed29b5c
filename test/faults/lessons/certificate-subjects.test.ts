/**
 * A certificate contains exactly the checked values of its request. X.509 readers disagree about rare string types: a name that a check
 * misses must not reach a certificate.
 */
import { X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  findRequestProblem,
  readCertificateRequest,
} from "../../../src/api/certificates/certificate-request.ts";
import { createRealLoop } from "../../../src/base/loop/real/real-loop.ts";
import { certificateSigner } from "../../../src/controllers/certificates/certificate-signer.ts";
import { loadIssuer, makePrivateKey } from "../../../src/server/pki/issuer.ts";
import { TestApi, text } from "../../api-harness.ts";
import {
  attribute,
  certificateRequest,
  der,
  extension,
  name,
  OBJECT_IDS,
} from "./certificate-request-bytes.ts";

const UTF8_STRING = 0x0c;
const PRINTABLE_STRING = 0x13;
const IA5_STRING = 0x16;
const MASTERS = "system:masters";
const loop = createRealLoop({ name: "test" });

const common = (value: string): Buffer => attribute(OBJECT_IDS.commonName, UTF8_STRING, value);
const organization = (value: string, tag = UTF8_STRING): Buffer =>
  attribute(OBJECT_IDS.organization, tag, value);

/** Undefined if the request is refused or the signer does not sign it. */
async function signed(request: string): Promise<X509Certificate | undefined> {
  const content = readCertificateRequest(request);
  if (content === undefined || findRequestProblem(request) !== undefined) return undefined;
  const key = makePrivateKey();
  const cert = await loadIssuer(loop).authority("ca", key);
  const pem = await certificateSigner({ cert, key, loop }).sign({ content, usages: ["client auth"] }, 3600);
  return pem === undefined ? undefined : new X509Certificate(pem);
}

/** The text in each encoding that a reader might assume: one, two and four bytes per letter. */
const WIDTHS = [1, 2, 4].map((width) =>
  Buffer.concat(
    Array.from(Buffer.from(MASTERS), (letter) => Buffer.from([...Buffer.alloc(width - 1), letter])),
  ),
);
const ACCEPTED = new Set([UTF8_STRING, PRINTABLE_STRING, IA5_STRING]);
/** Universal tags, and those of other classes, that fit one byte. */
const TAGS = Array.from({ length: 256 }, (_, tag) => tag).filter((tag) => (tag & 0x1f) !== 0x1f);

describe("an organization of any type of text", () => {
  test.each(TAGS)("with tag %d is refused, or checked as it would be signed", (tag) => {
    for (const bytes of WIDTHS) {
      const request = certificateRequest(
        name([attribute(OBJECT_IDS.organization, tag, bytes)], [common("erin")]),
      );

      const organizations = readCertificateRequest(request)?.organizations;

      const isPlain = bytes.length === MASTERS.length;
      // Zero bytes between letters are part of the text for one reader, and its end for another.
      expect(organizations).toEqual(ACCEPTED.has(tag) && isPlain ? [MASTERS] : undefined);
    }
  });

  test("reaches no certificate of group system:masters by the API", async () => {
    await using api = await TestApi.start();
    const outcomes = await Promise.all(
      TAGS.map(async (tag) => {
        const request = certificateRequest(name([organization(MASTERS, tag)], [common("erin")]));
        const { code, body } = await api.send(
          "POST",
          "/apis/certificates.k8s.io/v1/certificatesigningrequests",
          {
            metadata: { name: `r-${String(tag)}` },
            spec: { request, signerName: "kubernetes.io/kube-apiserver-client", usages: ["client auth"] },
          },
        );
        return { tag, code, message: text(body["message"]) };
      }),
    );

    for (const { tag, code, message } of outcomes) {
      expect([tag, code]).toEqual([tag, ACCEPTED.has(tag) ? 403 : 422]);
      expect(message).toContain(
        ACCEPTED.has(tag) ? "with system:masters group" : "malformed certificate request",
      );
    }
  });
});

test("a request of another signer says which type of text is refused", async () => {
  await using api = await TestApi.start();
  const request = certificateRequest(name([organization("dev", 0x12)]));

  const { code, body } = await api.send("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", {
    metadata: { name: "r" },
    spec: { request, signerName: "example.com/web", usages: ["client auth"] },
  });

  expect(code).toBe(422);
  expect(text(body["message"])).toContain(
    "subject attribute 2.5.4.10 is a NumericString; use UTF8String, PrintableString or IA5String",
  );
});

describe("a certificate", () => {
  test("has the organizations of all parts of a name, those of multi-valued ones too", async () => {
    const request = certificateRequest(
      name([organization("dev"), common("erin")], [organization("ops", PRINTABLE_STRING)]),
    );

    expect(readCertificateRequest(request)?.organizations).toEqual(["dev", "ops"]);
    expect((await signed(request))?.subject).toBe("O=dev\nO=ops\nCN=erin");
  });

  test("has no attribute that no check looks at, the uid of a user among them", async () => {
    const request = certificateRequest(
      name([attribute(OBJECT_IDS.uid, UTF8_STRING, "0a1b")], [common("erin")]),
    );

    expect((await signed(request))?.subject).toBe("CN=erin");
  });

  test.each(["#0c0e73797374656d3a6d617374657273", '"system:masters"x', String.raw`\0a`, "a+O=b, O=c", "é"])(
    "has an organization letter by letter: %s",
    async (value) => {
      const certificate = await signed(certificateRequest(name([organization(value)], [common("erin")])));

      expect([certificate?.toLegacyObject().subject].flat()[0]).toMatchObject({ O: value, CN: "erin" });
    },
  );

  test("has no extension of its request but names of four kinds", async () => {
    const names = der(
      0x30,
      der(0x82, Buffer.from("a.example")),
      der(0x87, Buffer.from([10, 0, 0, 1])),
      der(0x87, Buffer.concat([Buffer.from([0xfd]), Buffer.alloc(14), Buffer.from([1])])),
      der(0x88, Buffer.from([0x2a, 3])),
      der(0xa0, der(6, Buffer.from([0x2a, 3])), der(0xa0, der(UTF8_STRING, Buffer.from("root")))),
    );
    const authority = der(0x30, der(1, Buffer.from([0xff])));
    const request = certificateRequest(name([common("erin")]), [
      extension(OBJECT_IDS.alternativeName, names),
      extension(OBJECT_IDS.basicConstraints, authority),
    ]);

    const certificate = await signed(request);

    expect(certificate?.subjectAltName).toBe(
      "DNS:a.example, IP Address:10.0.0.1, IP Address:FD00:0:0:0:0:0:0:1",
    );
    expect(certificate?.ca).toBe(false);
  });
});

describe("a request that readers disagree about is refused", () => {
  const NAMES = der(0x30, der(0x82, Buffer.from("a.example")));

  test.each<readonly [string, Buffer, readonly Buffer[]]>([
    ["two common names", name([common("erin")], [common("root")]), []],
    ["a zero byte in a name", name([common("root\0.example")]), []],
    [
      "text that is not UTF-8",
      name([attribute(OBJECT_IDS.commonName, UTF8_STRING, Buffer.from([0xff]))]),
      [],
    ],
    ["a letter that is not printable", name([attribute(OBJECT_IDS.commonName, PRINTABLE_STRING, "a@b")]), []],
    [
      "the same extension twice",
      name([common("erin")]),
      [1, 2].map(() => extension(OBJECT_IDS.alternativeName, NAMES)),
    ],
    [
      "a zero byte in an alternative name",
      name([common("erin")]),
      [extension(OBJECT_IDS.alternativeName, der(0x30, der(0x82, Buffer.from("a\0b"))))],
    ],
    [
      "an address of five bytes",
      name([common("erin")]),
      [extension(OBJECT_IDS.alternativeName, der(0x30, der(0x87, Buffer.alloc(5))))],
    ],
    [
      "bytes behind the alternative names",
      name([common("erin")]),
      [extension(OBJECT_IDS.alternativeName, Buffer.concat([NAMES, NAMES]))],
    ],
  ])("%s", async (_what, subject, extensions) => {
    expect(await signed(certificateRequest(subject, extensions))).toBeUndefined();
  });
});
