// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { Condition, LabelSelector, ListMeta, ObjectMeta, StoredMeta } from "./meta-v1.ts";

export type AWSElasticBlockStoreVolumeSource = {
  readonly fsType?: string;
  readonly partition?: number;
  readonly readOnly?: boolean;
  readonly volumeID: string;
};

export type Affinity = {
  readonly nodeAffinity?: NodeAffinity;
  readonly podAffinity?: PodAffinity;
  readonly podAntiAffinity?: PodAntiAffinity;
};

export type AppArmorProfile = {
  readonly localhostProfile?: string;
  readonly type: "Localhost" | "RuntimeDefault" | "Unconfined";
};

export type AttachedVolume = {
  readonly devicePath: string;
  readonly name: string;
};

export type AzureDiskVolumeSource = {
  readonly cachingMode?: "None" | "ReadOnly" | "ReadWrite";
  readonly diskName: string;
  readonly diskURI: string;
  readonly fsType?: string;
  readonly kind?: "Dedicated" | "Managed" | "Shared";
  readonly readOnly?: boolean;
};

export type AzureFilePersistentVolumeSource = {
  readonly readOnly?: boolean;
  readonly secretName: string;
  readonly secretNamespace: string;
  readonly shareName: string;
};

export type AzureFileVolumeSource = {
  readonly readOnly?: boolean;
  readonly secretName: string;
  readonly shareName: string;
};

export type Binding = {
  readonly apiVersion: "v1";
  readonly kind: "Binding";
  readonly metadata: StoredMeta;
  readonly target: ObjectReference;
};

export type CSIPersistentVolumeSource = {
  readonly controllerExpandSecretRef?: SecretReference;
  readonly controllerPublishSecretRef?: SecretReference;
  readonly driver: string;
  readonly fsType?: string;
  readonly nodeExpandSecretRef?: SecretReference;
  readonly nodePublishSecretRef?: SecretReference;
  readonly nodeStageSecretRef?: SecretReference;
  readonly readOnly?: boolean;
  readonly volumeAttributes?: Readonly<Record<string, string>>;
  readonly volumeHandle: string;
};

export type CSIVolumeSource = {
  readonly driver: string;
  readonly fsType?: string;
  readonly nodePublishSecretRef?: LocalObjectReference;
  readonly readOnly?: boolean;
  readonly volumeAttributes?: Readonly<Record<string, string>>;
};

export type Capabilities = {
  readonly add?: readonly string[];
  readonly drop?: readonly string[];
};

export type CephFSPersistentVolumeSource = {
  readonly monitors: readonly string[];
  readonly path?: string;
  readonly readOnly?: boolean;
  readonly secretFile?: string;
  readonly secretRef?: SecretReference;
  readonly user?: string;
};

export type CephFSVolumeSource = {
  readonly monitors: readonly string[];
  readonly path?: string;
  readonly readOnly?: boolean;
  readonly secretFile?: string;
  readonly secretRef?: LocalObjectReference;
  readonly user?: string;
};

export type CinderPersistentVolumeSource = {
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly secretRef?: SecretReference;
  readonly volumeID: string;
};

export type CinderVolumeSource = {
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly secretRef?: LocalObjectReference;
  readonly volumeID: string;
};

export type ClientIPConfig = {
  readonly timeoutSeconds?: number;
};

export type ClusterTrustBundleProjection = {
  readonly labelSelector?: LabelSelector;
  readonly name?: string;
  readonly optional?: boolean;
  readonly path: string;
  readonly signerName?: string;
};

export type ComponentCondition = {
  readonly error?: string;
  readonly message?: string;
  readonly status: string;
  readonly type: string;
};

export type ComponentStatus = {
  readonly apiVersion: "v1";
  readonly conditions?: readonly ComponentCondition[];
  readonly kind: "ComponentStatus";
  readonly metadata: StoredMeta;
};
export const ComponentStatus: ResourceType<ComponentStatus> = {
  apiVersion: "v1",
  kind: "ComponentStatus",
  plural: "componentstatuses",
  namespaced: false,
};

export type ComponentStatusList = {
  readonly apiVersion: "v1";
  readonly items: readonly ComponentStatus[];
  readonly kind: "ComponentStatusList";
  readonly metadata: ListMeta;
};

export type ConfigMap = {
  readonly apiVersion: "v1";
  readonly binaryData?: Readonly<Record<string, string>>;
  readonly data?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
  readonly kind: "ConfigMap";
  readonly metadata: StoredMeta;
};
export const ConfigMap: ResourceType<ConfigMap> = {
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

export type ConfigMapEnvSource = {
  readonly name?: string;
  readonly optional?: boolean;
};

export type ConfigMapKeySelector = {
  readonly key: string;
  readonly name?: string;
  readonly optional?: boolean;
};

export type ConfigMapList = {
  readonly apiVersion: "v1";
  readonly items: readonly ConfigMap[];
  readonly kind: "ConfigMapList";
  readonly metadata: ListMeta;
};

export type ConfigMapNodeConfigSource = {
  readonly kubeletConfigKey: string;
  readonly name: string;
  readonly namespace: string;
  readonly resourceVersion?: string;
  readonly uid?: string;
};

export type ConfigMapProjection = {
  readonly items?: readonly KeyToPath[];
  readonly name?: string;
  readonly optional?: boolean;
};

export type ConfigMapVolumeSource = {
  readonly defaultMode?: number;
  readonly items?: readonly KeyToPath[];
  readonly name?: string;
  readonly optional?: boolean;
};

export type Container = {
  readonly args?: readonly string[];
  readonly command?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly EnvFromSource[];
  readonly image?: string;
  readonly imagePullPolicy?: "Always" | "IfNotPresent" | "Never";
  readonly lifecycle?: Lifecycle;
  readonly livenessProbe?: Probe;
  readonly name: string;
  readonly ports?: readonly ContainerPort[];
  readonly readinessProbe?: Probe;
  readonly resizePolicy?: readonly ContainerResizePolicy[];
  readonly resources: ResourceRequirements;
  readonly restartPolicy?: string;
  readonly restartPolicyRules?: readonly ContainerRestartRule[];
  readonly securityContext?: SecurityContext;
  readonly startupProbe?: Probe;
  readonly stdin?: boolean;
  readonly stdinOnce?: boolean;
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: "FallbackToLogsOnError" | "File";
  readonly tty?: boolean;
  readonly volumeDevices?: readonly VolumeDevice[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly workingDir?: string;
};

export type ContainerExtendedResourceRequest = {
  readonly containerName: string;
  readonly requestName: string;
  readonly resourceName: string;
};

export type ContainerImage = {
  readonly names: readonly string[];
  readonly sizeBytes?: number;
};

export type ContainerPort = {
  readonly containerPort: number;
  readonly hostIP?: string;
  readonly hostPort?: number;
  readonly name?: string;
  readonly protocol?: "SCTP" | "TCP" | "UDP";
};

export type ContainerResizePolicy = {
  readonly resourceName: string;
  readonly restartPolicy: string;
};

export type ContainerRestartRule = {
  readonly action?: string;
  readonly exitCodes?: ContainerRestartRuleOnExitCodes;
};

export type ContainerRestartRuleOnExitCodes = {
  readonly operator?: string;
  readonly values?: readonly number[];
};

export type ContainerState = {
  readonly running?: ContainerStateRunning;
  readonly terminated?: ContainerStateTerminated;
  readonly waiting?: ContainerStateWaiting;
};

export type ContainerStateRunning = {
  readonly startedAt?: string;
};

export type ContainerStateTerminated = {
  readonly containerID?: string;
  readonly exitCode: number;
  readonly finishedAt?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly signal?: number;
  readonly startedAt?: string;
};

export type ContainerStateWaiting = {
  readonly message?: string;
  readonly reason?: string;
};

export type ContainerStatus = {
  readonly allocatedResources?: Readonly<Record<string, string>>;
  readonly allocatedResourcesStatus?: readonly ResourceStatus[];
  readonly containerID?: string;
  readonly image: string;
  readonly imageID: string;
  readonly lastState: ContainerState;
  readonly name: string;
  readonly ready: boolean;
  readonly resources?: ResourceRequirements;
  readonly restartCount: number;
  readonly started?: boolean;
  readonly state: ContainerState;
  readonly stopSignal?:
    | "SIGABRT"
    | "SIGALRM"
    | "SIGBUS"
    | "SIGCHLD"
    | "SIGCLD"
    | "SIGCONT"
    | "SIGFPE"
    | "SIGHUP"
    | "SIGILL"
    | "SIGINT"
    | "SIGIO"
    | "SIGIOT"
    | "SIGKILL"
    | "SIGPIPE"
    | "SIGPOLL"
    | "SIGPROF"
    | "SIGPWR"
    | "SIGQUIT"
    | "SIGRTMAX"
    | "SIGRTMAX-1"
    | "SIGRTMAX-10"
    | "SIGRTMAX-11"
    | "SIGRTMAX-12"
    | "SIGRTMAX-13"
    | "SIGRTMAX-14"
    | "SIGRTMAX-2"
    | "SIGRTMAX-3"
    | "SIGRTMAX-4"
    | "SIGRTMAX-5"
    | "SIGRTMAX-6"
    | "SIGRTMAX-7"
    | "SIGRTMAX-8"
    | "SIGRTMAX-9"
    | "SIGRTMIN"
    | "SIGRTMIN+1"
    | "SIGRTMIN+10"
    | "SIGRTMIN+11"
    | "SIGRTMIN+12"
    | "SIGRTMIN+13"
    | "SIGRTMIN+14"
    | "SIGRTMIN+15"
    | "SIGRTMIN+2"
    | "SIGRTMIN+3"
    | "SIGRTMIN+4"
    | "SIGRTMIN+5"
    | "SIGRTMIN+6"
    | "SIGRTMIN+7"
    | "SIGRTMIN+8"
    | "SIGRTMIN+9"
    | "SIGSEGV"
    | "SIGSTKFLT"
    | "SIGSTOP"
    | "SIGSYS"
    | "SIGTERM"
    | "SIGTRAP"
    | "SIGTSTP"
    | "SIGTTIN"
    | "SIGTTOU"
    | "SIGURG"
    | "SIGUSR1"
    | "SIGUSR2"
    | "SIGVTALRM"
    | "SIGWINCH"
    | "SIGXCPU"
    | "SIGXFSZ";
  readonly user?: ContainerUser;
  readonly volumeMounts?: readonly VolumeMountStatus[];
};

export type ContainerUser = {
  readonly linux?: LinuxContainerUser;
};

export type DaemonEndpoint = {
  readonly Port: number;
};

export type DownwardAPIProjection = {
  readonly items?: readonly DownwardAPIVolumeFile[];
};

export type DownwardAPIVolumeFile = {
  readonly fieldRef?: ObjectFieldSelector;
  readonly mode?: number;
  readonly path: string;
  readonly resourceFieldRef?: ResourceFieldSelector;
};

export type DownwardAPIVolumeSource = {
  readonly defaultMode?: number;
  readonly items?: readonly DownwardAPIVolumeFile[];
};

export type EmptyDirVolumeSource = {
  readonly medium?: string;
  readonly sizeLimit?: string;
};

export type EndpointAddress = {
  readonly hostname?: string;
  readonly ip: string;
  readonly nodeName?: string;
  readonly targetRef?: ObjectReference;
};

export type EndpointPort = {
  readonly appProtocol?: string;
  readonly name?: string;
  readonly port: number;
  readonly protocol?: "SCTP" | "TCP" | "UDP";
};

export type EndpointSubset = {
  readonly addresses?: readonly EndpointAddress[];
  readonly notReadyAddresses?: readonly EndpointAddress[];
  readonly ports?: readonly EndpointPort[];
};

export type Endpoints = {
  readonly apiVersion: "v1";
  readonly kind: "Endpoints";
  readonly metadata: StoredMeta;
  readonly subsets?: readonly EndpointSubset[];
};
export const Endpoints: ResourceType<Endpoints> = {
  apiVersion: "v1",
  kind: "Endpoints",
  plural: "endpoints",
  namespaced: true,
};

export type EndpointsList = {
  readonly apiVersion: "v1";
  readonly items: readonly Endpoints[];
  readonly kind: "EndpointsList";
  readonly metadata: ListMeta;
};

export type EnvFromSource = {
  readonly configMapRef?: ConfigMapEnvSource;
  readonly prefix?: string;
  readonly secretRef?: SecretEnvSource;
};

export type EnvVar = {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: EnvVarSource;
};

export type EnvVarSource = {
  readonly configMapKeyRef?: ConfigMapKeySelector;
  readonly fieldRef?: ObjectFieldSelector;
  readonly fileKeyRef?: FileKeySelector;
  readonly resourceFieldRef?: ResourceFieldSelector;
  readonly secretKeyRef?: SecretKeySelector;
};

export type EphemeralContainer = {
  readonly args?: readonly string[];
  readonly command?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly EnvFromSource[];
  readonly image?: string;
  readonly imagePullPolicy?: "Always" | "IfNotPresent" | "Never";
  readonly lifecycle?: Lifecycle;
  readonly livenessProbe?: Probe;
  readonly name: string;
  readonly ports?: readonly ContainerPort[];
  readonly readinessProbe?: Probe;
  readonly resizePolicy?: readonly ContainerResizePolicy[];
  readonly resources: ResourceRequirements;
  readonly restartPolicy?: string;
  readonly restartPolicyRules?: readonly ContainerRestartRule[];
  readonly securityContext?: SecurityContext;
  readonly startupProbe?: Probe;
  readonly stdin?: boolean;
  readonly stdinOnce?: boolean;
  readonly targetContainerName?: string;
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: "FallbackToLogsOnError" | "File";
  readonly tty?: boolean;
  readonly volumeDevices?: readonly VolumeDevice[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly workingDir?: string;
};

export type EphemeralVolumeSource = {
  readonly volumeClaimTemplate?: PersistentVolumeClaimTemplate;
};

export type Event = {
  readonly action?: string;
  readonly apiVersion: "v1";
  readonly count?: number;
  readonly eventTime?: string;
  readonly firstTimestamp?: string;
  readonly involvedObject: ObjectReference;
  readonly kind: "Event";
  readonly lastTimestamp?: string;
  readonly message?: string;
  readonly metadata: StoredMeta;
  readonly reason?: string;
  readonly related?: ObjectReference;
  readonly reportingComponent: string;
  readonly reportingInstance: string;
  readonly series?: EventSeries;
  readonly source: EventSource;
  readonly type?: string;
};
export const Event: ResourceType<Event> = {
  apiVersion: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
};

export type EventList = {
  readonly apiVersion: "v1";
  readonly items: readonly Event[];
  readonly kind: "EventList";
  readonly metadata: ListMeta;
};

export type EventSeries = {
  readonly count?: number;
  readonly lastObservedTime?: string;
};

export type EventSource = {
  readonly component?: string;
  readonly host?: string;
};

export type ExecAction = {
  readonly command?: readonly string[];
};

export type FCVolumeSource = {
  readonly fsType?: string;
  readonly lun?: number;
  readonly readOnly?: boolean;
  readonly targetWWNs?: readonly string[];
  readonly wwids?: readonly string[];
};

export type FileKeySelector = {
  readonly key: string;
  readonly optional?: boolean;
  readonly path: string;
  readonly volumeName: string;
};

export type FlexPersistentVolumeSource = {
  readonly driver: string;
  readonly fsType?: string;
  readonly options?: Readonly<Record<string, string>>;
  readonly readOnly?: boolean;
  readonly secretRef?: SecretReference;
};

export type FlexVolumeSource = {
  readonly driver: string;
  readonly fsType?: string;
  readonly options?: Readonly<Record<string, string>>;
  readonly readOnly?: boolean;
  readonly secretRef?: LocalObjectReference;
};

export type FlockerVolumeSource = {
  readonly datasetName?: string;
  readonly datasetUUID?: string;
};

export type GCEPersistentDiskVolumeSource = {
  readonly fsType?: string;
  readonly partition?: number;
  readonly pdName: string;
  readonly readOnly?: boolean;
};

export type GRPCAction = {
  readonly port: number;
  readonly service: string;
};

export type GitRepoVolumeSource = {
  readonly directory?: string;
  readonly repository: string;
  readonly revision?: string;
};

export type GlusterfsPersistentVolumeSource = {
  readonly endpoints: string;
  readonly endpointsNamespace?: string;
  readonly path: string;
  readonly readOnly?: boolean;
};

export type GlusterfsVolumeSource = {
  readonly endpoints: string;
  readonly path: string;
  readonly readOnly?: boolean;
};

export type HTTPGetAction = {
  readonly host?: string;
  readonly httpHeaders?: readonly HTTPHeader[];
  readonly path?: string;
  readonly port: number | string;
  readonly scheme?: "HTTP" | "HTTPS";
};

export type HTTPHeader = {
  readonly name: string;
  readonly value: string;
};

export type HostAlias = {
  readonly hostnames?: readonly string[];
  readonly ip: string;
};

export type HostIP = {
  readonly ip: string;
};

export type HostPathVolumeSource = {
  readonly path: string;
  readonly type?:
    | ""
    | "BlockDevice"
    | "CharDevice"
    | "Directory"
    | "DirectoryOrCreate"
    | "File"
    | "FileOrCreate"
    | "Socket";
};

export type ISCSIPersistentVolumeSource = {
  readonly chapAuthDiscovery?: boolean;
  readonly chapAuthSession?: boolean;
  readonly fsType?: string;
  readonly initiatorName?: string;
  readonly iqn: string;
  readonly iscsiInterface?: string;
  readonly lun: number;
  readonly portals?: readonly string[];
  readonly readOnly?: boolean;
  readonly secretRef?: SecretReference;
  readonly targetPortal: string;
};

export type ISCSIVolumeSource = {
  readonly chapAuthDiscovery?: boolean;
  readonly chapAuthSession?: boolean;
  readonly fsType?: string;
  readonly initiatorName?: string;
  readonly iqn: string;
  readonly iscsiInterface?: string;
  readonly lun: number;
  readonly portals?: readonly string[];
  readonly readOnly?: boolean;
  readonly secretRef?: LocalObjectReference;
  readonly targetPortal: string;
};

export type ImageVolumeSource = {
  readonly pullPolicy?: "Always" | "IfNotPresent" | "Never";
  readonly reference?: string;
};

export type ImageVolumeStatus = {
  readonly imageRef?: string;
};

export type KeyToPath = {
  readonly key: string;
  readonly mode?: number;
  readonly path: string;
};

export type Lifecycle = {
  readonly postStart?: LifecycleHandler;
  readonly preStop?: LifecycleHandler;
  readonly stopSignal?:
    | "SIGABRT"
    | "SIGALRM"
    | "SIGBUS"
    | "SIGCHLD"
    | "SIGCLD"
    | "SIGCONT"
    | "SIGFPE"
    | "SIGHUP"
    | "SIGILL"
    | "SIGINT"
    | "SIGIO"
    | "SIGIOT"
    | "SIGKILL"
    | "SIGPIPE"
    | "SIGPOLL"
    | "SIGPROF"
    | "SIGPWR"
    | "SIGQUIT"
    | "SIGRTMAX"
    | "SIGRTMAX-1"
    | "SIGRTMAX-10"
    | "SIGRTMAX-11"
    | "SIGRTMAX-12"
    | "SIGRTMAX-13"
    | "SIGRTMAX-14"
    | "SIGRTMAX-2"
    | "SIGRTMAX-3"
    | "SIGRTMAX-4"
    | "SIGRTMAX-5"
    | "SIGRTMAX-6"
    | "SIGRTMAX-7"
    | "SIGRTMAX-8"
    | "SIGRTMAX-9"
    | "SIGRTMIN"
    | "SIGRTMIN+1"
    | "SIGRTMIN+10"
    | "SIGRTMIN+11"
    | "SIGRTMIN+12"
    | "SIGRTMIN+13"
    | "SIGRTMIN+14"
    | "SIGRTMIN+15"
    | "SIGRTMIN+2"
    | "SIGRTMIN+3"
    | "SIGRTMIN+4"
    | "SIGRTMIN+5"
    | "SIGRTMIN+6"
    | "SIGRTMIN+7"
    | "SIGRTMIN+8"
    | "SIGRTMIN+9"
    | "SIGSEGV"
    | "SIGSTKFLT"
    | "SIGSTOP"
    | "SIGSYS"
    | "SIGTERM"
    | "SIGTRAP"
    | "SIGTSTP"
    | "SIGTTIN"
    | "SIGTTOU"
    | "SIGURG"
    | "SIGUSR1"
    | "SIGUSR2"
    | "SIGVTALRM"
    | "SIGWINCH"
    | "SIGXCPU"
    | "SIGXFSZ";
};

export type LifecycleHandler = {
  readonly exec?: ExecAction;
  readonly httpGet?: HTTPGetAction;
  readonly sleep?: SleepAction;
  readonly tcpSocket?: TCPSocketAction;
};

export type LimitRange = {
  readonly apiVersion: "v1";
  readonly kind: "LimitRange";
  readonly metadata: StoredMeta;
  readonly spec: LimitRangeSpec;
};
export const LimitRange: ResourceType<LimitRange> = {
  apiVersion: "v1",
  kind: "LimitRange",
  plural: "limitranges",
  namespaced: true,
};

export type LimitRangeItem = {
  readonly default?: Readonly<Record<string, string>>;
  readonly defaultRequest?: Readonly<Record<string, string>>;
  readonly max?: Readonly<Record<string, string>>;
  readonly maxLimitRequestRatio?: Readonly<Record<string, string>>;
  readonly min?: Readonly<Record<string, string>>;
  readonly type: string;
};

export type LimitRangeList = {
  readonly apiVersion: "v1";
  readonly items: readonly LimitRange[];
  readonly kind: "LimitRangeList";
  readonly metadata: ListMeta;
};

export type LimitRangeSpec = {
  readonly limits: readonly LimitRangeItem[];
};

export type LinuxContainerUser = {
  readonly gid: number;
  readonly supplementalGroups?: readonly number[];
  readonly uid: number;
};

export type LoadBalancerIngress = {
  readonly hostname?: string;
  readonly ip?: string;
  readonly ipMode?: string;
  readonly ports?: readonly PortStatus[];
};

export type LoadBalancerStatus = {
  readonly ingress?: readonly LoadBalancerIngress[];
};

export type LocalObjectReference = {
  readonly name?: string;
};

export type LocalVolumeSource = {
  readonly fsType?: string;
  readonly path: string;
};

export type ModifyVolumeStatus = {
  readonly status: "InProgress" | "Infeasible" | "Pending";
  readonly targetVolumeAttributesClassName?: string;
};

export type NFSVolumeSource = {
  readonly path: string;
  readonly readOnly?: boolean;
  readonly server: string;
};

export type Namespace = {
  readonly apiVersion: "v1";
  readonly kind: "Namespace";
  readonly metadata: StoredMeta;
  readonly spec: NamespaceSpec;
  readonly status: NamespaceStatus;
};
export const Namespace: ResourceType<Namespace> = {
  apiVersion: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
};

export type NamespaceCondition = {
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
};

export type NamespaceList = {
  readonly apiVersion: "v1";
  readonly items: readonly Namespace[];
  readonly kind: "NamespaceList";
  readonly metadata: ListMeta;
};

export type NamespaceSpec = {
  readonly finalizers?: readonly string[];
};

export type NamespaceStatus = {
  readonly conditions?: readonly NamespaceCondition[];
  readonly phase?: "Active" | "Terminating";
};

export type Node = {
  readonly apiVersion: "v1";
  readonly kind: "Node";
  readonly metadata: StoredMeta;
  readonly spec: NodeSpec;
  readonly status: NodeStatus;
};
export const Node: ResourceType<Node> = {
  apiVersion: "v1",
  kind: "Node",
  plural: "nodes",
  namespaced: false,
};

export type NodeAddress = {
  readonly address: string;
  readonly type: string;
};

export type NodeAffinity = {
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly PreferredSchedulingTerm[];
  readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector;
};

export type NodeAllocatableResourceClaimStatus = {
  readonly containers?: readonly string[];
  readonly resourceClaimName: string;
  readonly resources: Readonly<Record<string, string>>;
};

export type NodeCondition = {
  readonly lastHeartbeatTime?: string;
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
};

export type NodeConfigSource = {
  readonly configMap?: ConfigMapNodeConfigSource;
};

export type NodeConfigStatus = {
  readonly active?: NodeConfigSource;
  readonly assigned?: NodeConfigSource;
  readonly error?: string;
  readonly lastKnownGood?: NodeConfigSource;
};

export type NodeDaemonEndpoints = {
  readonly kubeletEndpoint: DaemonEndpoint;
};

export type NodeFeatures = {
  readonly supplementalGroupsPolicy?: boolean;
};

export type NodeList = {
  readonly apiVersion: "v1";
  readonly items: readonly Node[];
  readonly kind: "NodeList";
  readonly metadata: ListMeta;
};

export type NodeRuntimeHandler = {
  readonly features?: NodeRuntimeHandlerFeatures;
  readonly name: string;
};

export type NodeRuntimeHandlerFeatures = {
  readonly recursiveReadOnlyMounts?: boolean;
  readonly userNamespaces?: boolean;
};

export type NodeSelector = {
  readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
};

export type NodeSelectorRequirement = {
  readonly key: string;
  readonly operator: "DoesNotExist" | "Exists" | "Gt" | "In" | "Lt" | "NotIn";
  readonly values?: readonly string[];
};

export type NodeSelectorTerm = {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
};

export type NodeSpec = {
  readonly configSource?: NodeConfigSource;
  readonly externalID?: string;
  readonly podCIDR?: string;
  readonly podCIDRs?: readonly string[];
  readonly providerID?: string;
  readonly taints?: readonly Taint[];
  readonly unschedulable?: boolean;
};

export type NodeStatus = {
  readonly addresses?: readonly NodeAddress[];
  readonly allocatable?: Readonly<Record<string, string>>;
  readonly capacity?: Readonly<Record<string, string>>;
  readonly conditions?: readonly NodeCondition[];
  readonly config?: NodeConfigStatus;
  readonly daemonEndpoints: NodeDaemonEndpoints;
  readonly declaredFeatures?: readonly string[];
  readonly features?: NodeFeatures;
  readonly images?: readonly ContainerImage[];
  readonly nodeInfo: NodeSystemInfo;
  readonly phase?: "Pending" | "Running" | "Terminated";
  readonly runtimeHandlers?: readonly NodeRuntimeHandler[];
  readonly volumesAttached?: readonly AttachedVolume[];
  readonly volumesInUse?: readonly string[];
};

export type NodeSwapStatus = {
  readonly capacity?: number;
};

export type NodeSystemInfo = {
  readonly architecture: string;
  readonly bootID: string;
  readonly containerRuntimeVersion: string;
  readonly kernelVersion: string;
  readonly kubeProxyVersion: string;
  readonly kubeletVersion: string;
  readonly machineID: string;
  readonly operatingSystem: string;
  readonly osImage: string;
  readonly swap?: NodeSwapStatus;
  readonly systemUUID: string;
};

export type ObjectFieldSelector = {
  readonly apiVersion?: string;
  readonly fieldPath: string;
};

export type ObjectReference = {
  readonly apiVersion?: string;
  readonly fieldPath?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly resourceVersion?: string;
  readonly uid?: string;
};

export type PersistentVolume = {
  readonly apiVersion: "v1";
  readonly kind: "PersistentVolume";
  readonly metadata: StoredMeta;
  readonly spec: PersistentVolumeSpec;
  readonly status: PersistentVolumeStatus;
};
export const PersistentVolume: ResourceType<PersistentVolume> = {
  apiVersion: "v1",
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  namespaced: false,
};

export type PersistentVolumeClaim = {
  readonly apiVersion: "v1";
  readonly kind: "PersistentVolumeClaim";
  readonly metadata: StoredMeta;
  readonly spec: PersistentVolumeClaimSpec;
  readonly status: PersistentVolumeClaimStatus;
};
export const PersistentVolumeClaim: ResourceType<PersistentVolumeClaim> = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
  namespaced: true,
};

export type PersistentVolumeClaimCondition = {
  readonly lastProbeTime?: string;
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
};

export type PersistentVolumeClaimList = {
  readonly apiVersion: "v1";
  readonly items: readonly PersistentVolumeClaim[];
  readonly kind: "PersistentVolumeClaimList";
  readonly metadata: ListMeta;
};

export type PersistentVolumeClaimSpec = {
  readonly accessModes?: readonly ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod")[];
  readonly dataSource?: TypedLocalObjectReference;
  readonly dataSourceRef?: TypedObjectReference;
  readonly resources: VolumeResourceRequirements;
  readonly selector?: LabelSelector;
  readonly storageClassName?: string;
  readonly volumeAttributesClassName?: string;
  readonly volumeMode?: "Block" | "Filesystem";
  readonly volumeName?: string;
};

export type PersistentVolumeClaimStatus = {
  readonly accessModes?: readonly ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod")[];
  readonly allocatedResourceStatuses?: Readonly<Record<string, string>>;
  readonly allocatedResources?: Readonly<Record<string, string>>;
  readonly capacity?: Readonly<Record<string, string>>;
  readonly conditions?: readonly PersistentVolumeClaimCondition[];
  readonly currentVolumeAttributesClassName?: string;
  readonly modifyVolumeStatus?: ModifyVolumeStatus;
  readonly phase?: "Bound" | "Lost" | "Pending";
};

export type PersistentVolumeClaimTemplate = {
  readonly metadata: ObjectMeta;
  readonly spec: PersistentVolumeClaimSpec;
};

export type PersistentVolumeClaimVolumeSource = {
  readonly claimName: string;
  readonly readOnly?: boolean;
};

export type PersistentVolumeList = {
  readonly apiVersion: "v1";
  readonly items: readonly PersistentVolume[];
  readonly kind: "PersistentVolumeList";
  readonly metadata: ListMeta;
};

export type PersistentVolumeSpec = {
  readonly accessModes?: readonly ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod")[];
  readonly awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource;
  readonly azureDisk?: AzureDiskVolumeSource;
  readonly azureFile?: AzureFilePersistentVolumeSource;
  readonly capacity?: Readonly<Record<string, string>>;
  readonly cephfs?: CephFSPersistentVolumeSource;
  readonly cinder?: CinderPersistentVolumeSource;
  readonly claimRef?: ObjectReference;
  readonly csi?: CSIPersistentVolumeSource;
  readonly fc?: FCVolumeSource;
  readonly flexVolume?: FlexPersistentVolumeSource;
  readonly flocker?: FlockerVolumeSource;
  readonly gcePersistentDisk?: GCEPersistentDiskVolumeSource;
  readonly glusterfs?: GlusterfsPersistentVolumeSource;
  readonly hostPath?: HostPathVolumeSource;
  readonly iscsi?: ISCSIPersistentVolumeSource;
  readonly local?: LocalVolumeSource;
  readonly mountOptions?: readonly string[];
  readonly nfs?: NFSVolumeSource;
  readonly nodeAffinity?: VolumeNodeAffinity;
  readonly persistentVolumeReclaimPolicy?: "Delete" | "Recycle" | "Retain";
  readonly photonPersistentDisk?: PhotonPersistentDiskVolumeSource;
  readonly portworxVolume?: PortworxVolumeSource;
  readonly quobyte?: QuobyteVolumeSource;
  readonly rbd?: RBDPersistentVolumeSource;
  readonly scaleIO?: ScaleIOPersistentVolumeSource;
  readonly storageClassName?: string;
  readonly storageos?: StorageOSPersistentVolumeSource;
  readonly volumeAttributesClassName?: string;
  readonly volumeMode?: "Block" | "Filesystem";
  readonly vsphereVolume?: VsphereVirtualDiskVolumeSource;
};

export type PersistentVolumeStatus = {
  readonly lastPhaseTransitionTime?: string;
  readonly message?: string;
  readonly phase?: "Available" | "Bound" | "Failed" | "Pending" | "Released";
  readonly reason?: string;
};

export type PhotonPersistentDiskVolumeSource = {
  readonly fsType?: string;
  readonly pdID: string;
};

export type Pod = {
  readonly apiVersion: "v1";
  readonly kind: "Pod";
  readonly metadata: StoredMeta;
  readonly spec: PodSpec;
  readonly status: PodStatus;
};
export const Pod: ResourceType<Pod> = {
  apiVersion: "v1",
  kind: "Pod",
  plural: "pods",
  namespaced: true,
};

export type PodAffinity = {
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[];
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
};

export type PodAffinityTerm = {
  readonly labelSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
  readonly namespaceSelector?: LabelSelector;
  readonly namespaces?: readonly string[];
  readonly topologyKey: string;
};

export type PodAntiAffinity = {
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[];
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
};

export type PodCertificateProjection = {
  readonly certificateChainPath?: string;
  readonly credentialBundlePath?: string;
  readonly keyPath?: string;
  readonly keyType?: string;
  readonly maxExpirationSeconds?: number;
  readonly signerName?: string;
  readonly userAnnotations?: Readonly<Record<string, string>>;
};

export type PodCondition = {
  readonly lastProbeTime?: string;
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
};

export type PodDNSConfig = {
  readonly nameservers?: readonly string[];
  readonly options?: readonly PodDNSConfigOption[];
  readonly searches?: readonly string[];
};

export type PodDNSConfigOption = {
  readonly name?: string;
  readonly value?: string;
};

export type PodExtendedResourceClaimStatus = {
  readonly requestMappings: readonly ContainerExtendedResourceRequest[];
  readonly resourceClaimName: string;
};

export type PodIP = {
  readonly ip: string;
};

export type PodList = {
  readonly apiVersion: "v1";
  readonly items: readonly Pod[];
  readonly kind: "PodList";
  readonly metadata: ListMeta;
};

export type PodOS = {
  readonly name: string;
};

export type PodReadinessGate = {
  readonly conditionType: string;
};

export type PodResourceClaim = {
  readonly name: string;
  readonly resourceClaimName?: string;
  readonly resourceClaimTemplateName?: string;
};

export type PodResourceClaimStatus = {
  readonly name: string;
  readonly resourceClaimName?: string;
};

export type PodSchedulingGate = {
  readonly name: string;
};

export type PodSchedulingGroup = {
  readonly podGroupName?: string;
};

export type PodSecurityContext = {
  readonly appArmorProfile?: AppArmorProfile;
  readonly fsGroup?: number;
  readonly fsGroupChangePolicy?: "Always" | "OnRootMismatch";
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly seLinuxChangePolicy?: string;
  readonly seLinuxOptions?: SELinuxOptions;
  readonly seccompProfile?: SeccompProfile;
  readonly supplementalGroups?: readonly number[];
  readonly supplementalGroupsPolicy?: "Merge" | "Strict";
  readonly sysctls?: readonly Sysctl[];
  readonly windowsOptions?: WindowsSecurityContextOptions;
};

export type PodSpec = {
  readonly activeDeadlineSeconds?: number;
  readonly affinity?: Affinity;
  readonly automountServiceAccountToken?: boolean;
  readonly containers: readonly Container[];
  readonly dnsConfig?: PodDNSConfig;
  readonly dnsPolicy?: "ClusterFirst" | "ClusterFirstWithHostNet" | "Default" | "None";
  readonly enableServiceLinks?: boolean;
  readonly ephemeralContainers?: readonly EphemeralContainer[];
  readonly hostAliases?: readonly HostAlias[];
  readonly hostIPC?: boolean;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostUsers?: boolean;
  readonly hostname?: string;
  readonly hostnameOverride?: string;
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  readonly initContainers?: readonly Container[];
  readonly nodeName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly os?: PodOS;
  readonly overhead?: Readonly<Record<string, string>>;
  readonly preemptionPolicy?: "Never" | "PreemptLowerPriority";
  readonly priority?: number;
  readonly priorityClassName?: string;
  readonly readinessGates?: readonly PodReadinessGate[];
  readonly resourceClaims?: readonly PodResourceClaim[];
  readonly resources?: ResourceRequirements;
  readonly restartPolicy?: "Always" | "Never" | "OnFailure";
  readonly runtimeClassName?: string;
  readonly schedulerName?: string;
  readonly schedulingGates?: readonly PodSchedulingGate[];
  readonly schedulingGroup?: PodSchedulingGroup;
  readonly securityContext?: PodSecurityContext;
  readonly serviceAccount?: string;
  readonly serviceAccountName?: string;
  readonly setHostnameAsFQDN?: boolean;
  readonly shareProcessNamespace?: boolean;
  readonly subdomain?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly tolerations?: readonly Toleration[];
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[];
  readonly volumes?: readonly Volume[];
};

export type PodStatus = {
  readonly allocatedResources?: Readonly<Record<string, string>>;
  readonly conditions?: readonly PodCondition[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[];
  readonly extendedResourceClaimStatus?: PodExtendedResourceClaimStatus;
  readonly hostIP?: string;
  readonly hostIPs?: readonly HostIP[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly message?: string;
  readonly nodeAllocatableResourceClaimStatuses?: readonly NodeAllocatableResourceClaimStatus[];
  readonly nominatedNodeName?: string;
  readonly observedGeneration?: number;
  readonly phase?: "Failed" | "Pending" | "Running" | "Succeeded" | "Unknown";
  readonly podIP?: string;
  readonly podIPs?: readonly PodIP[];
  readonly qosClass?: "BestEffort" | "Burstable" | "Guaranteed";
  readonly reason?: string;
  readonly resize?: string;
  readonly resourceClaimStatuses?: readonly PodResourceClaimStatus[];
  readonly resources?: ResourceRequirements;
  readonly startTime?: string;
};

export type PodTemplate = {
  readonly apiVersion: "v1";
  readonly kind: "PodTemplate";
  readonly metadata: StoredMeta;
  readonly template: PodTemplateSpec;
};
export const PodTemplate: ResourceType<PodTemplate> = {
  apiVersion: "v1",
  kind: "PodTemplate",
  plural: "podtemplates",
  namespaced: true,
};

export type PodTemplateList = {
  readonly apiVersion: "v1";
  readonly items: readonly PodTemplate[];
  readonly kind: "PodTemplateList";
  readonly metadata: ListMeta;
};

export type PodTemplateSpec = {
  readonly metadata: ObjectMeta;
  readonly spec: PodSpec;
};

export type PortStatus = {
  readonly error?: string;
  readonly port: number;
  readonly protocol: "SCTP" | "TCP" | "UDP";
};

export type PortworxVolumeSource = {
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly volumeID: string;
};

export type PreferredSchedulingTerm = {
  readonly preference: NodeSelectorTerm;
  readonly weight: number;
};

export type Probe = {
  readonly exec?: ExecAction;
  readonly failureThreshold?: number;
  readonly grpc?: GRPCAction;
  readonly httpGet?: HTTPGetAction;
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly successThreshold?: number;
  readonly tcpSocket?: TCPSocketAction;
  readonly terminationGracePeriodSeconds?: number;
  readonly timeoutSeconds?: number;
};

export type ProjectedVolumeSource = {
  readonly defaultMode?: number;
  readonly sources: readonly VolumeProjection[];
};

export type QuobyteVolumeSource = {
  readonly group?: string;
  readonly readOnly?: boolean;
  readonly registry: string;
  readonly tenant?: string;
  readonly user?: string;
  readonly volume: string;
};

export type RBDPersistentVolumeSource = {
  readonly fsType?: string;
  readonly image: string;
  readonly keyring?: string;
  readonly monitors: readonly string[];
  readonly pool?: string;
  readonly readOnly?: boolean;
  readonly secretRef?: SecretReference;
  readonly user?: string;
};

export type RBDVolumeSource = {
  readonly fsType?: string;
  readonly image: string;
  readonly keyring?: string;
  readonly monitors: readonly string[];
  readonly pool?: string;
  readonly readOnly?: boolean;
  readonly secretRef?: LocalObjectReference;
  readonly user?: string;
};

export type ReplicationController = {
  readonly apiVersion: "v1";
  readonly kind: "ReplicationController";
  readonly metadata: StoredMeta;
  readonly spec: ReplicationControllerSpec;
  readonly status: ReplicationControllerStatus;
};
export const ReplicationController: ResourceType<ReplicationController> = {
  apiVersion: "v1",
  kind: "ReplicationController",
  plural: "replicationcontrollers",
  namespaced: true,
};

export type ReplicationControllerCondition = {
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
};

export type ReplicationControllerList = {
  readonly apiVersion: "v1";
  readonly items: readonly ReplicationController[];
  readonly kind: "ReplicationControllerList";
  readonly metadata: ListMeta;
};

export type ReplicationControllerSpec = {
  readonly minReadySeconds?: number;
  readonly replicas?: number;
  readonly selector?: Readonly<Record<string, string>>;
  readonly template?: PodTemplateSpec;
};

export type ReplicationControllerStatus = {
  readonly availableReplicas?: number;
  readonly conditions?: readonly ReplicationControllerCondition[];
  readonly fullyLabeledReplicas?: number;
  readonly observedGeneration?: number;
  readonly readyReplicas?: number;
  readonly replicas: number;
};

export type ResourceClaim = {
  readonly name: string;
  readonly request?: string;
};

export type ResourceFieldSelector = {
  readonly containerName?: string;
  readonly divisor?: string;
  readonly resource: string;
};

export type ResourceHealth = {
  readonly health?: string;
  readonly message?: string;
  readonly resourceID: string;
};

export type ResourceQuota = {
  readonly apiVersion: "v1";
  readonly kind: "ResourceQuota";
  readonly metadata: StoredMeta;
  readonly spec: ResourceQuotaSpec;
  readonly status: ResourceQuotaStatus;
};
export const ResourceQuota: ResourceType<ResourceQuota> = {
  apiVersion: "v1",
  kind: "ResourceQuota",
  plural: "resourcequotas",
  namespaced: true,
};

export type ResourceQuotaList = {
  readonly apiVersion: "v1";
  readonly items: readonly ResourceQuota[];
  readonly kind: "ResourceQuotaList";
  readonly metadata: ListMeta;
};

export type ResourceQuotaSpec = {
  readonly hard?: Readonly<Record<string, string>>;
  readonly scopeSelector?: ScopeSelector;
  readonly scopes?: readonly (
    | "BestEffort"
    | "CrossNamespacePodAffinity"
    | "NotBestEffort"
    | "NotTerminating"
    | "PriorityClass"
    | "Terminating"
    | "VolumeAttributesClass"
  )[];
};

export type ResourceQuotaStatus = {
  readonly hard?: Readonly<Record<string, string>>;
  readonly used?: Readonly<Record<string, string>>;
};

export type ResourceRequirements = {
  readonly claims?: readonly ResourceClaim[];
  readonly limits?: Readonly<Record<string, string>>;
  readonly requests?: Readonly<Record<string, string>>;
};

export type ResourceStatus = {
  readonly name: string;
  readonly resources?: readonly ResourceHealth[];
};

export type SELinuxOptions = {
  readonly level?: string;
  readonly role?: string;
  readonly type?: string;
  readonly user?: string;
};

export type ScaleIOPersistentVolumeSource = {
  readonly fsType?: string;
  readonly gateway: string;
  readonly protectionDomain?: string;
  readonly readOnly?: boolean;
  readonly secretRef: SecretReference;
  readonly sslEnabled?: boolean;
  readonly storageMode?: string;
  readonly storagePool?: string;
  readonly system: string;
  readonly volumeName?: string;
};

export type ScaleIOVolumeSource = {
  readonly fsType?: string;
  readonly gateway: string;
  readonly protectionDomain?: string;
  readonly readOnly?: boolean;
  readonly secretRef: LocalObjectReference;
  readonly sslEnabled?: boolean;
  readonly storageMode?: string;
  readonly storagePool?: string;
  readonly system: string;
  readonly volumeName?: string;
};

export type ScopeSelector = {
  readonly matchExpressions?: readonly ScopedResourceSelectorRequirement[];
};

export type ScopedResourceSelectorRequirement = {
  readonly operator: "DoesNotExist" | "Exists" | "In" | "NotIn";
  readonly scopeName:
    | "BestEffort"
    | "CrossNamespacePodAffinity"
    | "NotBestEffort"
    | "NotTerminating"
    | "PriorityClass"
    | "Terminating"
    | "VolumeAttributesClass";
  readonly values?: readonly string[];
};

export type SeccompProfile = {
  readonly localhostProfile?: string;
  readonly type: "Localhost" | "RuntimeDefault" | "Unconfined";
};

export type Secret = {
  readonly apiVersion: "v1";
  readonly data?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
  readonly kind: "Secret";
  readonly metadata: StoredMeta;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly type?: string;
};
export const Secret: ResourceType<Secret> = {
  apiVersion: "v1",
  kind: "Secret",
  plural: "secrets",
  namespaced: true,
};

export type SecretEnvSource = {
  readonly name?: string;
  readonly optional?: boolean;
};

export type SecretKeySelector = {
  readonly key: string;
  readonly name?: string;
  readonly optional?: boolean;
};

export type SecretList = {
  readonly apiVersion: "v1";
  readonly items: readonly Secret[];
  readonly kind: "SecretList";
  readonly metadata: ListMeta;
};

export type SecretProjection = {
  readonly items?: readonly KeyToPath[];
  readonly name?: string;
  readonly optional?: boolean;
};

export type SecretReference = {
  readonly name?: string;
  readonly namespace?: string;
};

export type SecretVolumeSource = {
  readonly defaultMode?: number;
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
  readonly secretName?: string;
};

export type SecurityContext = {
  readonly allowPrivilegeEscalation?: boolean;
  readonly appArmorProfile?: AppArmorProfile;
  readonly capabilities?: Capabilities;
  readonly privileged?: boolean;
  readonly procMount?: "Default" | "Unmasked";
  readonly readOnlyRootFilesystem?: boolean;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly seLinuxOptions?: SELinuxOptions;
  readonly seccompProfile?: SeccompProfile;
  readonly windowsOptions?: WindowsSecurityContextOptions;
};

export type Service = {
  readonly apiVersion: "v1";
  readonly kind: "Service";
  readonly metadata: StoredMeta;
  readonly spec: ServiceSpec;
  readonly status: ServiceStatus;
};
export const Service: ResourceType<Service> = {
  apiVersion: "v1",
  kind: "Service",
  plural: "services",
  namespaced: true,
};

export type ServiceAccount = {
  readonly apiVersion: "v1";
  readonly automountServiceAccountToken?: boolean;
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  readonly kind: "ServiceAccount";
  readonly metadata: StoredMeta;
  readonly secrets?: readonly ObjectReference[];
};
export const ServiceAccount: ResourceType<ServiceAccount> = {
  apiVersion: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
};

export type ServiceAccountList = {
  readonly apiVersion: "v1";
  readonly items: readonly ServiceAccount[];
  readonly kind: "ServiceAccountList";
  readonly metadata: ListMeta;
};

export type ServiceAccountTokenProjection = {
  readonly audience?: string;
  readonly expirationSeconds?: number;
  readonly path: string;
};

export type ServiceList = {
  readonly apiVersion: "v1";
  readonly items: readonly Service[];
  readonly kind: "ServiceList";
  readonly metadata: ListMeta;
};

export type ServicePort = {
  readonly appProtocol?: string;
  readonly name?: string;
  readonly nodePort?: number;
  readonly port: number;
  readonly protocol?: "SCTP" | "TCP" | "UDP";
  readonly targetPort?: number | string;
};

export type ServiceSpec = {
  readonly allocateLoadBalancerNodePorts?: boolean;
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly externalIPs?: readonly string[];
  readonly externalName?: string;
  readonly externalTrafficPolicy?: "Cluster" | "Local";
  readonly healthCheckNodePort?: number;
  readonly internalTrafficPolicy?: "Cluster" | "Local";
  readonly ipFamilies?: readonly ("" | "IPv4" | "IPv6")[];
  readonly ipFamilyPolicy?: "PreferDualStack" | "RequireDualStack" | "SingleStack";
  readonly loadBalancerClass?: string;
  readonly loadBalancerIP?: string;
  readonly loadBalancerSourceRanges?: readonly string[];
  readonly ports?: readonly ServicePort[];
  readonly publishNotReadyAddresses?: boolean;
  readonly selector?: Readonly<Record<string, string>>;
  readonly sessionAffinity?: "ClientIP" | "None";
  readonly sessionAffinityConfig?: SessionAffinityConfig;
  readonly trafficDistribution?: string;
  readonly type?: "ClusterIP" | "ExternalName" | "LoadBalancer" | "NodePort";
};

export type ServiceStatus = {
  readonly conditions?: readonly Condition[];
  readonly loadBalancer: LoadBalancerStatus;
};

export type SessionAffinityConfig = {
  readonly clientIP?: ClientIPConfig;
};

export type SleepAction = {
  readonly seconds: number;
};

export type StorageOSPersistentVolumeSource = {
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly secretRef?: ObjectReference;
  readonly volumeName?: string;
  readonly volumeNamespace?: string;
};

export type StorageOSVolumeSource = {
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly secretRef?: LocalObjectReference;
  readonly volumeName?: string;
  readonly volumeNamespace?: string;
};

export type Sysctl = {
  readonly name: string;
  readonly value: string;
};

export type TCPSocketAction = {
  readonly host?: string;
  readonly port: number | string;
};

export type Taint = {
  readonly effect: "NoExecute" | "NoSchedule" | "PreferNoSchedule";
  readonly key: string;
  readonly timeAdded?: string;
  readonly value?: string;
};

export type Toleration = {
  readonly effect?: "NoExecute" | "NoSchedule" | "PreferNoSchedule";
  readonly key?: string;
  readonly operator?: "Equal" | "Exists" | "Gt" | "Lt";
  readonly tolerationSeconds?: number;
  readonly value?: string;
};

export type TopologySelectorLabelRequirement = {
  readonly key: string;
  readonly values: readonly string[];
};

export type TopologySelectorTerm = {
  readonly matchLabelExpressions?: readonly TopologySelectorLabelRequirement[];
};

export type TopologySpreadConstraint = {
  readonly labelSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly maxSkew: number;
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: "Honor" | "Ignore";
  readonly nodeTaintsPolicy?: "Honor" | "Ignore";
  readonly topologyKey: string;
  readonly whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway";
};

export type TypedLocalObjectReference = {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
};

export type TypedObjectReference = {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
};

export type Volume = {
  readonly awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource;
  readonly azureDisk?: AzureDiskVolumeSource;
  readonly azureFile?: AzureFileVolumeSource;
  readonly cephfs?: CephFSVolumeSource;
  readonly cinder?: CinderVolumeSource;
  readonly configMap?: ConfigMapVolumeSource;
  readonly csi?: CSIVolumeSource;
  readonly downwardAPI?: DownwardAPIVolumeSource;
  readonly emptyDir?: EmptyDirVolumeSource;
  readonly ephemeral?: EphemeralVolumeSource;
  readonly fc?: FCVolumeSource;
  readonly flexVolume?: FlexVolumeSource;
  readonly flocker?: FlockerVolumeSource;
  readonly gcePersistentDisk?: GCEPersistentDiskVolumeSource;
  readonly gitRepo?: GitRepoVolumeSource;
  readonly glusterfs?: GlusterfsVolumeSource;
  readonly hostPath?: HostPathVolumeSource;
  readonly image?: ImageVolumeSource;
  readonly iscsi?: ISCSIVolumeSource;
  readonly name: string;
  readonly nfs?: NFSVolumeSource;
  readonly persistentVolumeClaim?: PersistentVolumeClaimVolumeSource;
  readonly photonPersistentDisk?: PhotonPersistentDiskVolumeSource;
  readonly portworxVolume?: PortworxVolumeSource;
  readonly projected?: ProjectedVolumeSource;
  readonly quobyte?: QuobyteVolumeSource;
  readonly rbd?: RBDVolumeSource;
  readonly scaleIO?: ScaleIOVolumeSource;
  readonly secret?: SecretVolumeSource;
  readonly storageos?: StorageOSVolumeSource;
  readonly vsphereVolume?: VsphereVirtualDiskVolumeSource;
};

export type VolumeDevice = {
  readonly devicePath: string;
  readonly name: string;
};

export type VolumeMount = {
  readonly mountPath: string;
  readonly mountPropagation?: "Bidirectional" | "HostToContainer" | "None";
  readonly name: string;
  readonly readOnly?: boolean;
  readonly recursiveReadOnly?: string;
  readonly subPath?: string;
  readonly subPathExpr?: string;
};

export type VolumeMountStatus = {
  readonly mountPath: string;
  readonly name: string;
  readonly readOnly?: boolean;
  readonly recursiveReadOnly?: string;
  readonly volumeStatus?: VolumeStatus;
};

export type VolumeNodeAffinity = {
  readonly required?: NodeSelector;
};

export type VolumeProjection = {
  readonly clusterTrustBundle?: ClusterTrustBundleProjection;
  readonly configMap?: ConfigMapProjection;
  readonly downwardAPI?: DownwardAPIProjection;
  readonly podCertificate?: PodCertificateProjection;
  readonly secret?: SecretProjection;
  readonly serviceAccountToken?: ServiceAccountTokenProjection;
};

export type VolumeResourceRequirements = {
  readonly limits?: Readonly<Record<string, string>>;
  readonly requests?: Readonly<Record<string, string>>;
};

export type VolumeStatus = {
  readonly image?: ImageVolumeStatus;
};

export type VsphereVirtualDiskVolumeSource = {
  readonly fsType?: string;
  readonly storagePolicyID?: string;
  readonly storagePolicyName?: string;
  readonly volumePath: string;
};

export type WeightedPodAffinityTerm = {
  readonly podAffinityTerm: PodAffinityTerm;
  readonly weight: number;
};

export type WindowsSecurityContextOptions = {
  readonly gmsaCredentialSpec?: string;
  readonly gmsaCredentialSpecName?: string;
  readonly hostProcess?: boolean;
  readonly runAsUserName?: string;
};
