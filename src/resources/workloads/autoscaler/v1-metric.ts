/** Converts metrics between v2 and the older form, which v1 keeps as text in an annotation. */

import type {
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from "../../../api/generated/types/autoscaling-v2.ts";
import { isJsonObject, type JsonObject } from "../../../api/json/json-object.ts";

type Fields = Record<string, unknown>;

/** Drops absent fields: the annotation contains no nulls. */
function present(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export function metricToV1({
  type,
  object,
  pods,
  resource,
  containerResource,
  external,
}: MetricSpec): JsonObject {
  return present({
    type,
    object:
      object &&
      present({
        target: object.describedObject,
        metricName: object.metric.name,
        targetValue: object.target.value ?? "0",
        selector: object.metric.selector,
        averageValue: object.target.averageValue,
      }),
    pods:
      pods &&
      present({
        metricName: pods.metric.name,
        targetAverageValue: pods.target.averageValue,
        selector: pods.metric.selector,
      }),
    resource: resource && present({ name: resource.name, ...targetToV1(resource.target) }),
    containerResource:
      containerResource &&
      present({
        name: containerResource.name,
        ...targetToV1(containerResource.target),
        container: containerResource.container,
      }),
    external:
      external &&
      present({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        targetValue: external.target.value,
        targetAverageValue: external.target.averageValue,
      }),
  });
}

function targetToV1({ averageUtilization, averageValue }: MetricTarget): Fields {
  return { targetAverageUtilization: averageUtilization, targetAverageValue: averageValue };
}

export function metricFromV1(metric: JsonObject): JsonObject {
  const { object, pods, resource, containerResource, external } = metric;
  return present({
    type: metric["type"],
    object: part(object, ({ target, metricName, targetValue, selector, averageValue }) => ({
      describedObject: target,
      metric: present({ name: metricName, selector }),
      // v1 writes a target of zero when there is only an average.
      target: amount({ value: averageValue === undefined ? targetValue : undefined, averageValue }),
    })),
    pods: part(pods, ({ metricName, selector, targetAverageValue }) => ({
      metric: present({ name: metricName, selector }),
      target: amount({ averageValue: targetAverageValue }),
    })),
    resource: part(resource, (from) => ({ name: from["name"], target: utilization(from) })),
    containerResource: part(containerResource, (from) => ({
      name: from["name"],
      container: from["container"],
      target: utilization(from),
    })),
    external: part(external, ({ metricName, metricSelector, targetValue, targetAverageValue }) => ({
      metric: present({ name: metricName, selector: metricSelector }),
      target: amount({ value: targetValue, averageValue: targetAverageValue }),
    })),
  });
}

function part(from: unknown, convert: (from: JsonObject) => Fields): Fields | undefined {
  return isJsonObject(from) ? convert(from) : undefined;
}

function amount({
  value,
  averageValue,
}: {
  readonly value?: unknown;
  readonly averageValue?: unknown;
}): Fields {
  return present({ type: averageValue === undefined ? "Value" : "AverageValue", value, averageValue });
}

function utilization({ targetAverageUtilization, targetAverageValue }: JsonObject): Fields {
  return present({
    type: targetAverageUtilization === undefined ? "AverageValue" : "Utilization",
    averageUtilization: targetAverageUtilization,
    averageValue: targetAverageValue,
  });
}

export function statusToV1({
  type,
  object,
  pods,
  resource,
  containerResource,
  external,
}: MetricStatus): JsonObject {
  return present({
    type,
    object:
      object &&
      present({
        target: object.describedObject,
        metricName: object.metric.name,
        currentValue: object.current.value ?? "0",
        selector: object.metric.selector,
        averageValue: object.current.averageValue,
      }),
    pods:
      pods &&
      present({
        metricName: pods.metric.name,
        currentAverageValue: pods.current.averageValue,
        selector: pods.metric.selector,
      }),
    resource: resource && present({ name: resource.name, ...currentToV1(resource.current) }),
    containerResource:
      containerResource &&
      present({
        name: containerResource.name,
        ...currentToV1(containerResource.current),
        container: containerResource.container,
      }),
    external:
      external &&
      present({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        currentValue: external.current.value ?? "0",
        currentAverageValue: external.current.averageValue,
      }),
  });
}

function currentToV1({ averageUtilization, averageValue }: MetricValueStatus): Fields {
  return { currentAverageUtilization: averageUtilization, currentAverageValue: averageValue ?? "0" };
}

export function statusFromV1(status: JsonObject): JsonObject {
  const { object, pods, resource, containerResource, external } = status;
  return present({
    type: status["type"],
    object: part(object, ({ target, metricName, currentValue, selector, averageValue }) => ({
      describedObject: target,
      metric: present({ name: metricName, selector }),
      current: present({ value: currentValue, averageValue }),
    })),
    pods: part(pods, ({ metricName, selector, currentAverageValue }) => ({
      metric: present({ name: metricName, selector }),
      current: present({ averageValue: currentAverageValue }),
    })),
    resource: part(resource, (from) => ({ name: from["name"], current: currentFromV1(from) })),
    containerResource: part(containerResource, (from) => ({
      name: from["name"],
      container: from["container"],
      current: currentFromV1(from),
    })),
    external: part(external, ({ metricName, metricSelector, currentValue, currentAverageValue }) => ({
      metric: present({ name: metricName, selector: metricSelector }),
      current: present({ value: currentValue, averageValue: currentAverageValue }),
    })),
  });
}

function currentFromV1({ currentAverageUtilization, currentAverageValue }: JsonObject): Fields {
  return present({ averageUtilization: currentAverageUtilization, averageValue: currentAverageValue });
}
