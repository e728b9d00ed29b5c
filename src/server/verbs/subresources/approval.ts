/** Approves or denies a certificate request. No other endpoint writes the Approved and Denied conditions. */
import type { CertificateSigningRequest } from "../../../api/generated/types/certificates-v1.ts";
import {
  prepareApproval,
  validateApproval,
} from "../../../resources/certificates/certificate-signing-request.ts";
import type { EndpointRules } from "../../objects/endpoint-rules.ts";

export const approval: EndpointRules<CertificateSigningRequest> = {
  prepare: prepareApproval,
  validate: validateApproval,
};
