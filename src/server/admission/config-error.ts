/** What admission was told at the start makes no sense; the message says what was expected and what was found. */
export class AdmissionConfigError extends Error {
  override readonly name = "AdmissionConfigError";
}
