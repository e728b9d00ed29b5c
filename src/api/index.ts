/** `setpoint/api`: the object model for operators (errors, selectors, quantities, times), without a client. */
export { ApiError, isApiError } from "./errors/api-error.ts";
export type {
  ApiErrorOptions,
  ApiErrorReason,
  Status,
  StatusCause,
  StatusDetails,
} from "./errors/api-error.ts";
export { collectionPath, objectPath } from "./api-object.ts";
export type { ApiObject, Manifest, ObjectKey, ResourceType } from "./api-object.ts";
export { parseLabelSelector } from "./selectors/label-query.ts";
export { compileLabelSelector, labelSelectorText, labelsMatch } from "./selectors/label-selector.ts";
export type { LabelOperator, LabelRequirement, Labels } from "./selectors/label-requirement.ts";
export type { LabelSelector } from "./selectors/label-selector.ts";
export {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityToNumber,
  subtractQuantities,
} from "./values/quantity.ts";
export type { Quantity, QuantityFormat } from "./values/quantity.ts";
export { formatDuration, formatMicroTime, formatTime, parseDuration } from "./values/time.ts";
