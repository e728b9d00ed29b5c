/** Validates projected volumes: several sources share a directory, and no two may use the same path. */

import type { FieldErrors, FieldPath } from "../../../api/errors/field-error.ts";
import type {
  ClusterTrustBundleProjection,
  ConfigMapProjection,
  PodCertificateProjection,
  ProjectedVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from "../../../api/generated/types/core-v1.ts";
import { validateLabelSelector } from "../../../api/selectors/label-selector.ts";
import { dns1123Subdomain } from "../../../api/values/names.ts";
import { addNew, checkRequiredChoice } from "../../rules/value-rules.ts";
import { checkLocalPath } from "../local-path.ts";
import { checkDownwardFile, checkKeyToPath, checkMode } from "./file-rules.ts";

const TOKEN_SECONDS_MIN = 10 * 60;
const TOKEN_SECONDS_MAX = 2 ** 32;
const KEY_TYPES = ["ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519", "RSA3072", "RSA4096"];

interface ProjectionPlace {
  /** Path of the volume, at which conflicting paths are reported. */
  readonly volume: FieldPath;
  readonly source: FieldPath;
  /** Paths in use by earlier sources. */
  readonly paths: Set<string>;
}

export function checkProjected(projected: ProjectedVolumeSource, path: FieldPath, errors: FieldErrors): void {
  checkMode(projected.defaultMode, path.child("defaultMode"), errors);
  const paths = new Set<string>();
  for (const [i, source] of projected.sources.entries()) {
    const at = path.child("sources").index(i);
    checkProjection(source, { volume: path, source: at, paths }, errors);
    if (Object.keys(source).length > 1) {
      errors.forbidden(at, "may not specify more than 1 volume type per source");
    }
  }
}

function checkProjection(source: VolumeProjection, place: ProjectionPlace, errors: FieldErrors): void {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  const at = (name: string): ProjectionPlace => ({ ...place, source: place.source.child(name) });
  if (secret !== undefined) checkObjectFiles(secret, at("secret"), errors);
  if (configMap !== undefined) checkObjectFiles(configMap, at("configMap"), errors);
  for (const file of downwardAPI?.items ?? []) {
    checkDownwardFile(file, place.source.child("downwardAPI"), errors);
    if (file.path !== "") claimPath({ file: file.path, shown: file.path }, place, errors);
  }
  if (serviceAccountToken !== undefined) checkToken(serviceAccountToken, at("serviceAccountToken"), errors);
  if (clusterTrustBundle !== undefined)
    checkTrustBundle(clusterTrustBundle, at("clusterTrustBundle"), errors);
  if (podCertificate !== undefined) checkCertificate(podCertificate, at("podCertificate"), errors);
}

/** Used for Secrets and ConfigMaps, whose projections have equal types. */
function checkObjectFiles(
  { name = "", items }: ConfigMapProjection,
  place: ProjectionPlace,
  errors: FieldErrors,
): void {
  if (name === "") errors.required(place.source.child("name"));
  for (const [i, item] of (items ?? []).entries()) {
    checkKeyToPath(item, place.source.child("items").index(i), errors);
    if (item.path !== "") claimPath({ file: item.path, shown: name }, place, errors);
  }
}

function claimPath(
  { file, shown }: { readonly file: string; readonly shown: string },
  { volume, paths }: ProjectionPlace,
  errors: FieldErrors,
): void {
  if (!addNew(paths, file)) errors.invalid(volume, shown, "conflicting duplicate paths");
}

function checkToken(token: ServiceAccountTokenProjection, place: ProjectionPlace, errors: FieldErrors): void {
  const { expirationSeconds = 0, path: file } = token;
  const at = place.source.child("expirationSeconds");
  if (expirationSeconds < TOKEN_SECONDS_MIN) {
    errors.invalid(at, expirationSeconds, "may not specify a duration less than 10 minutes");
  }
  if (expirationSeconds > TOKEN_SECONDS_MAX) {
    errors.invalid(at, expirationSeconds, "may not specify a duration larger than 2^32 seconds");
  }
  if (file === "") errors.required(place.volume.child("path"));
  else checkLocalPath(file, place.volume.child("path"), errors);
}

function checkTrustBundle(
  bundle: ClusterTrustBundleProjection,
  place: ProjectionPlace,
  errors: FieldErrors,
): void {
  const { name, signerName, labelSelector, path: file } = bundle;
  const at = place.source;
  if (name !== undefined && signerName !== undefined) {
    errors.invalid(at, bundle, "only one of name and signerName may be used");
  } else if (name !== undefined) {
    if (name === "") errors.required(at.child("name"), "must be a valid object name");
    if (labelSelector !== undefined) {
      errors.invalid(
        at.child("labelSelector"),
        labelSelector,
        "labelSelector must be unset if name is specified",
      );
    }
  } else if (signerName !== undefined) {
    if (signerName === "") errors.required(at.child("signerName"), "must be a valid signer name");
    if (labelSelector !== undefined) validateLabelSelector(labelSelector, at.child("labelSelector"), errors);
  } else {
    errors.required(at, "either name or signerName must be specified");
  }
  if (file === "") errors.required(at.child("path"));
  checkLocalPath(file, at.child("path"), errors);
  claimPath({ file, shown: file }, place, errors);
}

function checkCertificate(
  certificate: PodCertificateProjection,
  place: ProjectionPlace,
  errors: FieldErrors,
): void {
  const { signerName = "", keyType, credentialBundlePath, keyPath, certificateChainPath } = certificate;
  const at = place.source;
  const [domain = ""] = signerName.split("/");
  if (signerName === "") errors.required(at.child("signerName"));
  else errors.invalidFor(at.child("signerName"), signerName, dns1123Subdomain(domain));
  checkRequiredChoice({ path: at.child("keyType"), value: keyType, among: KEY_TYPES }, errors);
  const files = Object.entries({ credentialBundlePath, keyPath, certificateChainPath });
  for (const [field, file] of files) {
    if (file === undefined) continue;
    checkLocalPath(file, at.child(field), errors);
    claimPath({ file, shown: file }, place, errors);
  }
  if (files.every(([, file]) => file === undefined)) {
    errors.required(at, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath");
  }
}
