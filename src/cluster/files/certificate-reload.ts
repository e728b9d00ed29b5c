/**
 * Replaces certificates while the server runs: its own, and the CAs of clients and front proxies. Open connections keep
 * their old certificates.
 */
import { X509Certificate } from "node:crypto";
import type { KeyPair } from "../../server/pki/pki-folder.ts";
import type { Pki } from "../../server/pki/pki.ts";
import type { ListenerTls } from "../../server/transport/listener.ts";
import type { RequestHeaderTrust } from "../../server/upkeep/bootstrap/extension-authentication.ts";
import type { ReloadedFile } from "./file-reload.ts";

const FILES = [
  "apiserver.crt",
  "apiserver.key",
  "ca.crt",
  "front-proxy-ca.crt",
  "front-proxy-client.crt",
  "front-proxy-client.key",
] as const;
/** Absent in a folder that cannot make them. */
const KUBELET_CLIENT = ["apiserver-kubelet-client.crt", "apiserver-kubelet-client.key"] as const;
type Texts = Readonly<Record<(typeof FILES)[number], string>> &
  Readonly<Partial<Record<(typeof KUBELET_CLIENT)[number], string>>>;

/** Rejects for a missing file. */
type ReadFile = (name: string) => Promise<string>;

export class LiveCertificates {
  #texts: Texts;

  constructor({ server, ca, frontProxyCa, frontProxyClient, kubeletClient }: Pki) {
    this.#texts = {
      "apiserver.crt": server.cert,
      "apiserver.key": server.key,
      "ca.crt": ca.cert,
      "front-proxy-ca.crt": frontProxyCa.cert,
      "front-proxy-client.crt": frontProxyClient.cert,
      "front-proxy-client.key": frontProxyClient.key,
      ...(kubeletClient !== undefined && {
        "apiserver-kubelet-client.crt": kubeletClient.cert,
        "apiserver-kubelet-client.key": kubeletClient.key,
      }),
    };
  }

  get tls(): ListenerTls {
    return tlsOf(this.#texts);
  }

  get frontProxyClient(): KeyPair {
    const { "front-proxy-client.crt": cert, "front-proxy-client.key": key } = this.#texts;
    return { cert, key };
  }

  get kubeletClient(): KeyPair | undefined {
    const { "apiserver-kubelet-client.crt": cert, "apiserver-kubelet-client.key": key } = this.#texts;
    return cert === undefined || key === undefined ? undefined : { cert, key };
  }

  /** Returns the CAs and names to publish for aggregated API servers, current at each call. */
  requestHeaderTrust(frontProxyNames: readonly string[]): () => RequestHeaderTrust {
    return () => {
      const { "ca.crt": clientCa, "front-proxy-ca.crt": frontProxyCa } = this.#texts;
      return { clientCa, frontProxyCa, frontProxyNames };
    };
  }

  /** Treats all files as one: a certificate is useless without its key. `renew` throws for unusable certificates. */
  file(path: string, read: ReadFile, renew: (tls: ListenerTls) => void): ReloadedFile {
    const files = Object.keys(this.#texts);
    return {
      path,
      text: JSON.stringify(this.#texts),
      read: async () => {
        const texts = await Promise.all(files.map((name) => read(name)));
        return JSON.stringify(Object.fromEntries(files.map((name, i) => [name, texts[i]])));
      },
      use: (text) => {
        const texts = JSON.parse(text) as Texts;
        for (const [name, pem] of Object.entries(texts)) if (name.endsWith(".crt")) checkCertificate(pem);
        renew(tlsOf(texts));
        this.#texts = texts;
      },
    };
  }
}

function tlsOf(texts: Texts): ListenerTls {
  return {
    cert: texts["apiserver.crt"],
    key: texts["apiserver.key"],
    ca: texts["ca.crt"],
    frontProxyCa: texts["front-proxy-ca.crt"],
  };
}

/** Throws unless the text is a certificate. */
function checkCertificate(text: string): X509Certificate {
  return new X509Certificate(text);
}
