/** Reads the configuration of admission from flags and a file, once at start. */
import { dirname, resolve } from "node:path";
import { isJsonObject } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { parseYaml } from "../../api/yaml/yaml.ts";
import { errorText } from "../../base/error-text.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { readFileBytes } from "../../base/process/read-named-file.ts";
import { AdmissionConfigError } from "../../server/admission/config-error.ts";
import { checkPluginChoice } from "../../server/admission/plugin-names.ts";
import type { AdmissionOptions } from "../../server/admission/plugins.ts";
import { parsePodSecurityConfiguration } from "../../server/admission/plugins/pods/pod-security/configuration.ts";

export interface AdmissionFlags {
  readonly enabled?: readonly string[] | undefined;
  readonly disabled?: readonly string[] | undefined;
  /** Path of an AdmissionConfiguration in kube-apiserver's format. */
  readonly configFile?: string | undefined;
}

/** Error text about the plugin names; undefined when they are valid. */
export function pluginChoiceProblem({ enabled = [], disabled = [] }: AdmissionFlags): string | undefined {
  try {
    checkPluginChoice({ enabled, disabled });
    return undefined;
  } catch (error) {
    if (error instanceof AdmissionConfigError) return error.message;
    throw error;
  }
}

/** Rejects with a one-line error that names the file. */
export async function readAdmission(flags: AdmissionFlags = {}, loop: Loop): Promise<AdmissionOptions> {
  const { enabled = [], disabled = [], configFile } = flags;
  checkPluginChoice({ enabled, disabled });
  if (configFile === undefined) return { enabled, disabled };
  const read: ReadFile = async (path) => parseYaml(await loop.outside("file", readFileBytes(path))).value;
  try {
    const podSecurity = parsePluginConfigurations(await read(configFile)).get("PodSecurity");
    if (podSecurity === undefined) return { enabled, disabled };
    const value = await configurationOf(podSecurity, read, dirname(configFile));
    return { enabled, disabled, podSecurity: parsePodSecurityConfiguration(value) };
  } catch (cause) {
    // The command line adds a remedy to errors of the operating system.
    if (cause instanceof Error && "syscall" in cause) throw cause;
    const why = errorText(cause);
    throw new Error(`${configFile} is not a valid AdmissionConfiguration: ${why}`, { cause });
  }
}

type ReadFile = (path: string) => Promise<unknown>;

const API_VERSION = "apiserver.config.k8s.io/v1";

/** Where the configuration of one plugin is: another file, or inline. */
interface PluginConfiguration {
  readonly path: string | undefined;
  readonly configuration: JsonObject | undefined;
}

/** Keyed by plugin name. */
function parsePluginConfigurations(value: unknown): ReadonlyMap<string, PluginConfiguration> {
  if (
    !isJsonObject(value) ||
    value["kind"] !== "AdmissionConfiguration" ||
    value["apiVersion"] !== API_VERSION
  )
    throw new AdmissionConfigError(`expected an AdmissionConfiguration of ${API_VERSION}`);
  const { plugins = [] } = value;
  if (!Array.isArray(plugins)) throw new AdmissionConfigError("plugins must be a list");
  return new Map(plugins.map((plugin: unknown, at) => parsePlugin(plugin, `plugins[${at}]`)));
}

function parsePlugin(value: unknown, place: string): readonly [string, PluginConfiguration] {
  if (!isJsonObject(value)) throw new AdmissionConfigError(`${place} must be an object`);
  const { name, path, configuration } = value;
  if (name !== "PodSecurity")
    throw new AdmissionConfigError(
      `${place}: no configuration is taken for plugin ${JSON.stringify(name)}, only for "PodSecurity"`,
    );
  const isPath = path === undefined || path === "" || typeof path === "string";
  if (!isPath || !(configuration === undefined || configuration === null || isJsonObject(configuration)))
    throw new AdmissionConfigError(`${place}: path must be the name of a file, and configuration an object`);
  return [name, { path: path === "" ? undefined : path, configuration: configuration ?? undefined }];
}

/** The inline configuration, or the one in a file relative to `folder`. */
async function configurationOf(
  { path, configuration }: PluginConfiguration,
  read: ReadFile,
  folder: string,
): Promise<JsonObject> {
  if (configuration !== undefined) return configuration;
  if (path === undefined) throw new AdmissionConfigError("PodSecurity has neither path nor configuration");
  const value = await read(resolve(folder, path));
  if (!isJsonObject(value)) throw new AdmissionConfigError(`${path} must hold an object`);
  return value;
}
