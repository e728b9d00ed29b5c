/** Certificate signing requests for tests: PEM in base64, as in the API. Their private keys were discarded. */

function request(...lines: readonly string[]): string {
  const pem = ["-----BEGIN CERTIFICATE REQUEST-----", ...lines, "-----END CERTIFICATE REQUEST-----", ""];
  return Buffer.from(pem.join("\n")).toString("base64");
}

export const SAMPLE_REQUESTS = {
  /** `O=system:nodes, CN=system:node:n1`. */
  nodeOne: request(
    "MIHqMIGSAgEAMDAxFTATBgNVBAoMDHN5c3RlbTpub2RlczEXMBUGA1UEAwwOc3lz",
    "dGVtOm5vZGU6bjEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASLr2jXuSLN157I",
    "9IoWnIZCsD089C9iwveu/MnHAc5V8YSTcY2HRq2CJMaW3Rv1XCJvAKv4dDH4m9S4",
    "ZHH+CBIhoAAwCgYIKoZIzj0EAwIDRwAwRAIgV5KNPGB+PbpfSxutc+NfcQxaQYjt",
    "N1t8rY1pA+ammk8CIAWu2+UaNqB1sVCileVvTcuczDiVLv6qLCU6BT+0Dc8G",
  ),
  /** `O=system:nodes, CN=system:node:n2`. */
  nodeTwo: request(
    "MIHqMIGSAgEAMDAxFTATBgNVBAoMDHN5c3RlbTpub2RlczEXMBUGA1UEAwwOc3lz",
    "dGVtOm5vZGU6bjIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARjzvqEIBEBvx3A",
    "s9LU/LuZoMnyfjN9897FlhUErn+8SMxv/Ag+ol0VsMREHZmuU9whkZdl/NS+ziZM",
    "yk4oBBVPoAAwCgYIKoZIzj0EAwIDRwAwRAIgB87eZbb5ekhgOxrLKigH3TRMKoy1",
    "sUWVcHN+2RagJqICIHwBLC7A5LZMnsse2SjCcdB1cUY48nTi095mC/YnR+AJ",
  ),
  /** `O=system:masters, CN=root`. */
  administrator: request(
    "MIHiMIGKAgEAMCgxFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMQ0wCwYDVQQDDARy",
    "b290MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEY876hCARAb8dwLPS1Py7maDJ",
    "8n4zffPexZYVBK5/vEjMb/wIPqJdFbDERB2ZrlPcIZGXZfzUvs4mTMpOKAQVT6AA",
    "MAoGCCqGSM49BAMCA0cAMEQCICXrRaiTY6KX1VaVrspvc7TK1QEm+1oxIwaM3qZA",
    "zaPgAiAzbt1fRv7H9vMFQG0J6gdJ/Cl9fnPleK8Mp2b5xrMPOw==",
  ),
} as const;
