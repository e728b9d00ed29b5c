/** Invalid admission configuration at startup. The message names the expected and the found value. */
export class AdmissionConfigError extends Error {
  override readonly name = "AdmissionConfigError";
}
