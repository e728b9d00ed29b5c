/**
 * FlowSchemas and PriorityLevelConfigurations. Mandatory ones always keep their spec. Suggested ones are created when missing and
 * keep their spec, unless their annotation opts out. The status of every FlowSchema says whether its level exists, including those of
 * users.
 */
import type {
  FlowSchema,
  FlowSchemaCondition,
  FlowSchemaSpec,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
} from "../../../api/generated/types/flowcontrol-v1.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { jsonEqual } from "../../../api/patch/json-equal.ts";
import { timeText } from "../../../api/values/time.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { Store } from "../../../store/store.ts";
import type { Registry, StoredResource } from "../../objects/registry.ts";
import { requireStored } from "../../objects/registry.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import { keyOf, prefixOf } from "../../objects/versions.ts";
import { DEFAULT_LEVELS, DEFAULT_SCHEMAS } from "../../stages/fairness/default-flows.ts";
import type { DefaultFlowObject } from "../../stages/fairness/default-flows.ts";
import type { RequiredObjects, RequiredObject, ObsoleteObjects } from "../required-objects.ts";

const GROUP = "flowcontrol.apiserver.k8s.io";
const AUTO_UPDATE = "apf.kubernetes.io/autoupdate-spec";
const DANGLING = "Dangling";

type FlowSpec = FlowSchemaSpec | PriorityLevelConfigurationSpec;

interface Parts {
  readonly registry: Registry;
  readonly store: Store;
  readonly loop: Loop;
}

export function flowControl(parts: Parts): readonly RequiredObjects[] {
  const levels = requireStored(parts.registry, GROUP, "prioritylevelconfigurations");
  const schemas = requireStored(parts.registry, GROUP, "flowschemas");
  return [
    {
      name: "priority levels",
      boot: ["poststarthook/priority-and-fairness-config-producer"],
      objects: DEFAULT_LEVELS.map((wanted) => kept(wanted, levels)),
      obsolete: obsoleteOf(levels, DEFAULT_LEVELS),
    },
    flowSchemas({ ...parts, levels, schemas }),
  ];
}

interface FlowParts extends Parts {
  readonly levels: StoredResource;
  readonly schemas: StoredResource;
}

/** After the levels, because the status of a schema says whether its level exists. */
function flowSchemas(parts: FlowParts): RequiredObjects {
  const { store, levels, schemas } = parts;
  const correctedStatus = (live: ApiObject): JsonObject => withCondition(live, parts);
  const defaults = DEFAULT_SCHEMAS.map((wanted): RequiredObject => ({
    ...kept(wanted, schemas),
    correctedStatus,
  }));
  const names = new Set(DEFAULT_SCHEMAS.map(({ name }) => name));
  const prefix = prefixOf(schemas, "");
  return {
    name: "flow schemas",
    boot: ["poststarthook/priority-and-fairness-config-producer"],
    /** Includes existing schemas of users, for which only the status is maintained. */
    get objects(): readonly RequiredObject[] {
      const others: RequiredObject[] = [];
      for (const entry of store.accepted.range(prefix, prefixEnd(prefix))) {
        const name = entry.key.slice(prefix.length);
        if (names.has(name)) continue;
        const manifest = (): JsonObject => ({ spec: (StoredObject.of(entry).object as FlowSchema).spec });
        others.push({ resource: schemas, namespace: "", name, manifest, correctedStatus });
      }
      return [...defaults, ...others];
    },
    obsolete: obsoleteOf(schemas, DEFAULT_SCHEMAS),
    watched: [prefix, prefixOf(levels, "")],
  };
}

function kept(wanted: DefaultFlowObject<FlowSpec>, resource: StoredResource): RequiredObject {
  const annotations = { [AUTO_UPDATE]: "true" };
  const { name, isMandatory } = wanted;
  const spec = wanted.spec;
  return {
    resource,
    namespace: "",
    name,
    manifest: () => ({ metadata: { annotations }, spec }),
    corrected: (live) => {
      const isOurs = isMandatory || mayUpdate(live);
      const isSaid = findBoolean(live.metadata.annotations?.[AUTO_UPDATE]) === isOurs;
      const wantedSpec = withOwnShares(spec, live);
      const isAsWanted = !isOurs || jsonEqual((live as JsonObject)["spec"], wantedSpec);
      if (isSaid && isAsWanted) return live;
      const said = { ...live.metadata.annotations, [AUTO_UPDATE]: String(isOurs) };
      const metadata = { ...live.metadata, annotations: said };
      return { ...live, metadata, ...(isOurs && { spec: wantedSpec }) };
    },
  };
}

/** Administrators may set the seats of the exempt level. */
function withOwnShares(spec: JsonObject, live: ApiObject): JsonObject {
  const { exempt } = (live as PriorityLevelConfiguration).spec;
  return spec["exempt"] === undefined || exempt === undefined ? spec : { ...spec, exempt };
}

/** Without the annotation, an object in its first generation counts as unchanged. */
function mayUpdate({ metadata }: ApiObject): boolean {
  return findBoolean(metadata.annotations?.[AUTO_UPDATE]) ?? metadata.generation === 1;
}

/** Parses a boolean like Go's strconv.ParseBool. */
function findBoolean(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (/^(?:1|t|T|TRUE|true|True)$/.test(text)) return true;
  return /^(?:0|f|F|FALSE|false|False)$/.test(text) ? false : undefined;
}

/** Obsolete objects: suggested by an earlier server and not adopted by a user. */
function obsoleteOf(resource: StoredResource, wanted: readonly { readonly name: string }[]): ObsoleteObjects {
  const names = new Set(wanted.map(({ name }) => name));
  return {
    resource,
    isObsolete: ({ metadata }) =>
      !names.has(metadata.name ?? "") && findBoolean(metadata.annotations?.[AUTO_UPDATE]) === true,
  };
}

/** Returns the same object when its condition is current. */
function withCondition(live: ApiObject, { store, levels, loop }: FlowParts): JsonObject {
  const { spec, status } = live as FlowSchema;
  const { name } = spec.priorityLevelConfiguration;
  const conditions = status.conditions ?? [];
  const wanted = danglingCondition(name, store.accepted.get(keyOf(levels, "", name)) !== undefined);
  const known = conditions.find(({ type }) => type === DANGLING);
  const isSaid = (["status", "reason", "message"] as const).every(
    (field) => known?.[field] === wanted[field],
  );
  if (isSaid) return live;
  const condition = { ...wanted, lastTransitionTime: timeText(loop.now()) };
  const others = conditions.filter(({ type }) => type !== DANGLING);
  return { ...live, status: { ...status, conditions: [...others, condition] } };
}

function danglingCondition(level: string, isThere: boolean): FlowSchemaCondition {
  const subject = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`;
  return isThere
    ? { type: DANGLING, status: "False", reason: "Found", message: `${subject} and it exists` }
    : {
        type: DANGLING,
        status: "True",
        reason: "NotFound",
        message: `${subject} but there is no such object`,
      };
}
