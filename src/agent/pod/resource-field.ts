/** Texts of a container's resources, for variables and files of the downward API. */
import type { Container, ResourceFieldSelector } from "../../api/generated/types/core-v1.ts";
import { parseQuantity } from "../../api/values/quantity.ts";

type Amounts = Readonly<Record<string, string>>;

/** A limit that the container lacks is the node's allocatable amount, as with the kubelet. */
export function resourceText(
  { resource, divisor = "0" }: ResourceFieldSelector,
  { resources }: Container,
  allocatable: Amounts,
): string {
  const dot = resource.indexOf(".");
  const name = resource.slice(dot + 1);
  const isLimit = resource.startsWith("limits.");
  const text = isLimit ? (resources.limits?.[name] ?? allocatable[name]) : resources.requests?.[name];
  const amount = parseQuantity(text ?? "0").nano;
  const unit = parseQuantity(divisor).nano;
  const per = unit === 0n ? parseQuantity("1").nano : unit;
  return ((amount + per - 1n) / per).toString();
}
