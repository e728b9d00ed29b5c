/** Quantities as manifests of a chaos run write them. */

/** `500m` or `4`. */
export function milli(text: string): number {
  return text.endsWith("m") ? Number(text.slice(0, -1)) : Number(text) * 1000;
}

/** `64Mi` or `8Gi`. */
export function mebi(text: string): number {
  const amount = Number(text.slice(0, -2));
  return text.endsWith("Gi") ? amount * 1024 : amount;
}
