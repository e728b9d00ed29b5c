/** Validates the metrics of an autoscaler: five types, each with a target. */

import type { FieldErrors, FieldPath } from "../../../api/errors/field-error.ts";
import type {
  CrossVersionObjectReference,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
} from "../../../api/generated/types/autoscaling-v2.ts";
import { validateLabelSelector } from "../../../api/selectors/label-selector.ts";
import { dns1123Label, pathSegmentName } from "../../../api/values/names.ts";
import { parseQuantity } from "../../../api/values/quantity.ts";
import { checkContainerResourceName } from "../../rules/resource-name.ts";

const SOURCES = ["object", "external", "pods", "resource", "containerResource"] as const;
type Source = (typeof SOURCES)[number];

const SOURCE_OF_TYPE: ReadonlyMap<string, Source> = new Map([
  ["ContainerResource", "containerResource"],
  ["External", "external"],
  ["Object", "object"],
  ["Pods", "pods"],
  ["Resource", "resource"],
]);
const TARGET_TYPES = ["Utilization", "Value", "AverageValue"];

interface ReferencePlace {
  readonly path: FieldPath;
  /** `required` excludes the core group, in which almost no kind is scalable. */
  readonly group: "required" | "optional";
}

export function checkReference(
  { kind, name, apiVersion = "" }: CrossVersionObjectReference,
  { path, group }: ReferencePlace,
  errors: FieldErrors,
): void {
  for (const [field, value] of Object.entries({ kind, name })) {
    if (value === "") errors.required(path.child(field));
    else errors.invalidFor(path.child(field), value, pathSegmentName(value));
  }
  const at = path.child("apiVersion");
  const parts = apiVersion.split("/");
  if (parts.length > 2) errors.invalid(at, apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  else if (group === "required" && (parts.length === 1 || parts[0] === "")) {
    errors.invalid(at, apiVersion, "apiVersion must specify API group");
  }
}

export function checkMetric(metric: MetricSpec, path: FieldPath, errors: FieldErrors): void {
  const type = path.child("type");
  if (metric.type === "") errors.required(type, "must specify a metric source type");
  const expected = SOURCE_OF_TYPE.get(metric.type);
  if (expected === undefined) errors.notSupported(type, metric.type, [...SOURCE_OF_TYPE.keys()]);
  const present = SOURCES.filter((source) => metric[source] !== undefined);
  const [first] = present;
  if (first !== undefined) checkSource(metric, { source: first, path: path.child(first) }, errors);
  if (expected !== undefined && metric[expected] === undefined) {
    errors.required(path.child(expected), "must populate information for the given metric source");
  }
  if (present.length < 2) return;
  for (const source of present.filter((each) => each !== expected)) {
    errors.forbidden(path.child(source), "must populate the given metric source only");
  }
}

interface SourcePlace {
  readonly source: Source;
  readonly path: FieldPath;
}

function checkSource(metric: MetricSpec, { source, path }: SourcePlace, errors: FieldErrors): void {
  const { object, external, pods, resource, containerResource } = metric;
  if (source === "object" && object !== undefined) {
    checkReference(
      object.describedObject,
      { path: path.child("describedObject"), group: "optional" },
      errors,
    );
    checkIdentifier(object.metric, path.child("metric"), errors);
    checkTarget(object.target, { path: path.child("target"), needs: "object" }, errors);
  }
  if (source === "external" && external !== undefined) {
    checkIdentifier(external.metric, path.child("metric"), errors);
    checkTarget(external.target, { path: path.child("target"), needs: "external" }, errors);
  }
  if (source === "pods" && pods !== undefined) {
    checkIdentifier(pods.metric, path.child("metric"), errors);
    checkTarget(pods.target, { path: path.child("target"), needs: "pods" }, errors);
  }
  if (source === "resource" && resource !== undefined) checkResource(resource, path, errors);
  if (source === "containerResource" && containerResource !== undefined) {
    checkContainerResource(containerResource, path, errors);
  }
}

function checkResource(
  { name, target }: NonNullable<MetricSpec["resource"]>,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (name === "") errors.required(path.child("name"), "must specify a resource name");
  checkTarget(target, { path: path.child("target"), needs: "resource" }, errors);
}

function checkContainerResource(
  { name, container, target }: NonNullable<MetricSpec["containerResource"]>,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (name === "") errors.required(path.child("name"), "must specify a resource name");
  else checkContainerResourceName(name, path.child("name"), errors);
  if (container === "") errors.required(path.child("container"), "must specify a container");
  else errors.invalidFor(path.child("container"), container, dns1123Label(container));
  checkTarget(target, { path: path.child("target"), needs: "resource" }, errors);
}

function checkIdentifier({ name, selector }: MetricIdentifier, path: FieldPath, errors: FieldErrors): void {
  if (name === "") errors.required(path.child("name"), "must specify a metric name");
  else errors.invalidFor(path.child("name"), name, pathSegmentName(name));
  if (selector !== undefined) validateLabelSelector(selector, path.child("selector"), errors);
}

interface TargetPlace {
  readonly path: FieldPath;
  readonly needs: "object" | "external" | "pods" | "resource";
}

function checkTarget(target: MetricTarget, place: TargetPlace, errors: FieldErrors): void {
  const { path } = place;
  if (target.type === "") errors.required(path.child("type"), "must specify a metric target type");
  if (!TARGET_TYPES.includes(target.type)) {
    errors.invalid(path.child("type"), target.type, "must be either Utilization, Value, or AverageValue");
  }
  for (const field of ["value", "averageValue"] as const) {
    const amount = target[field];
    if (amount !== undefined && parseQuantity(amount).nano <= 0n) {
      errors.invalid(path.child(field), amount, "must be positive");
    }
  }
  const { averageUtilization } = target;
  if (averageUtilization !== undefined && averageUtilization < 1) {
    errors.invalid(path.child("averageUtilization"), averageUtilization, "must be greater than 0");
  }
  checkTargetParts(target, place, errors);
}

function checkTargetParts(target: MetricTarget, { path, needs }: TargetPlace, errors: FieldErrors): void {
  const { value, averageValue, averageUtilization } = target;
  const average = path.child("averageValue");
  const hasValue = value !== undefined || averageValue !== undefined;
  switch (needs) {
    case "object":
      if (!hasValue) errors.required(average, "must set either a target value or averageValue");
      return;
    case "external":
      if (!hasValue)
        errors.required(average, "must set either a target value for metric or a per-pod target");
      if (value === undefined || averageValue === undefined) return;
      errors.forbidden(
        path.child("value"),
        "may not set both a target value for metric and a per-pod target",
      );
      return;
    case "pods":
      if (averageValue === undefined) errors.required(average, "must specify a positive target averageValue");
      return;
    case "resource":
      checkResourceTarget({ averageValue, averageUtilization }, path, errors);
  }
}

function checkResourceTarget(
  target: { readonly averageValue: string | undefined; readonly averageUtilization: number | undefined },
  path: FieldPath,
  errors: FieldErrors,
): void {
  const { averageValue, averageUtilization } = target;
  if (averageUtilization === undefined && averageValue === undefined) {
    const problem = "must set either a target raw value or a target utilization";
    errors.required(path.child("averageUtilization"), problem);
  }
  if (averageUtilization !== undefined && averageValue !== undefined) {
    const problem = "may not set both a target raw value and a target utilization";
    errors.forbidden(path.child("averageValue"), problem);
  }
}
