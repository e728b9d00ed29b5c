/** `setpoint/api`: what operators need of the object model, without a client. */
export { ApiError, isApiError } from "./api-error.ts";
export type { ApiErrorOptions, ApiErrorReason, Status, StatusCause, StatusDetails } from "./api-error.ts";
export { collectionPath, objectPath } from "./api-object.ts";
export type { ApiObject, Manifest, ObjectKey, ResourceType } from "./api-object.ts";
export { parseLabelSelector } from "./label-query.ts";
export { compileLabelSelector, labelSelectorText, labelsMatch } from "./label-selector.ts";
export type { LabelOperator, LabelRequirement, Labels } from "./label-requirement.ts";
export type { LabelSelector } from "./label-selector.ts";
export {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityToNumber,
  subtractQuantities,
} from "./quantity.ts";
export type { Quantity, QuantityFormat } from "./quantity.ts";
export { formatDuration, formatMicroTime, formatTime, parseDuration } from "./time.ts";
