import { expect, test } from "vitest";
import type { CertificateSigningRequest } from "../api/generated/types/certificates-v1.ts";
import { incomplete } from "../api/object-fixture.ts";
import { findRequestEnd } from "./csr-cleaner.ts";

const TIME = "2026-01-01T00:00:00Z";
const HOUR = 3_600_000;

test.each([
  { state: "waiting", types: [], certificate: "", hours: 24 },
  { state: "approved, not issued", types: ["Approved"], certificate: "", hours: 24 },
  { state: "issued", types: ["Approved"], certificate: "eA==", hours: 1 },
  { state: "denied", types: ["Denied"], certificate: "", hours: 1 },
  { state: "failed", types: ["Approved", "Failed"], certificate: "", hours: 1 },
])("a CertificateSigningRequest that is $state is kept for $hours h", ({ types, certificate, hours }) => {
  const conditions = types.map((type) => ({ type, lastUpdateTime: TIME }));
  const request = incomplete<CertificateSigningRequest>({
    metadata: { creationTimestamp: TIME },
    status: { conditions, certificate },
  });

  const end = findRequestEnd(request);

  expect(end).toBe(Date.parse(TIME) + hours * HOUR);
});
