/** When an image is pulled, unless the pod says so: a moving tag every time, anything else once. */
export function defaultPullPolicy(image: string): "Always" | "IfNotPresent" {
  const [name = "", ...digest] = image.slice(image.lastIndexOf("/") + 1).split("@");
  const colon = name.indexOf(":");
  if (colon >= 0) return name.slice(colon + 1) === "latest" ? "Always" : "IfNotPresent";
  // Without a tag the newest is meant, unless a digest pins it or there is no image at all.
  return name === "" || digest.length > 0 ? "IfNotPresent" : "Always";
}
