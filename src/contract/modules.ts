// An adapter's description of itself before it runs: its options, its default access, its setup. Registry,
// configuration, wizard and `doctor` know a platform or connector only by this. Third-party adapters are equal to
// built-in ones.
import type { AgentConnector, ConnectorDeps } from './agent/agent.ts'
import type { Clock } from './clock.ts'
import type { GateView, SecurityFinding } from './operator/findings.ts'
import type { PlatformAdapter } from './platform/platform.ts'
import type { PlatformDeps } from './platform/platform-deps.ts'
import type { AgentSettings, IntegrationSettings } from './settings.ts'

/** A Standard Schema that also provides its JSON Schema. Any library with both works, and none is required. */
export interface OptionsSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    /** Must return at once; a promise is refused. Its result becomes the adapter's options. */
    readonly validate: (value: unknown) => OptionsResult | Promise<OptionsResult>
    /**
     * The schema of an object. A property with `"x-secret": true` is always a reference (`env:`, `file:`, `secret:`);
     * with `"x-secret": "or-text"` it may be one. Both are masked wherever the file is shown.
     */
    readonly jsonSchema: {
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>
    }
  }
}

export type OptionsResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly OptionsIssue[] }

export interface OptionsIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Validated options, as the adapter's own schema returns them. */
export type Options = Readonly<Record<string, unknown>>

interface AdapterModule {
  /** Its name in the configuration: lower-case letters, digits and dashes. */
  readonly name: string
  readonly options: OptionsSchema
  /** Its documentation: a page of this repository's docs/, or a URL. */
  readonly docs: string
  /** Its name in lists for people. Absent: its name. */
  readonly title?: string
  /** It needs no external service, so newcomers are offered it first. */
  readonly first?: true
  readonly setup?: ModuleSetup
  /** What `switchboard emulate NAME` runs. */
  readonly emulator?: StartEmulator
}

export interface PlatformModule extends AdapterModule {
  /** The default access, without configuration. Absent: only listed senders. */
  readonly defaultAccess?: DefaultAccess | ((options: Options) => DefaultAccess)
  /** Whether an integration with these options can send nothing back. Absent: it can send. */
  oneWay?(options: Options): boolean
  /** The key that restricts an integration to requests from this machine; null: none does. Absent: none ever does. */
  nearOnly?(options: Options): string | null
  /** How to change either, shown with its warning. */
  readonly hints?: { readonly oneWay?: string; readonly nearOnly?: string }
  /** Whether the identity of senders is proven. Absent: it is. */
  provesSenders?(options: Options): boolean
  /** Checks an integration by its configuration alone. `doctor` shows the result, whether or not it runs. */
  doctor?(
    integration: IntegrationSettings,
    server: { readonly publicUrl: string | null },
  ): readonly GateView[]
  /**
   * Risks of its options, besides gates with `open`. Only `doctor --security` lists them. `what` names the
   * integration.
   */
  security?(
    integration: IntegrationSettings,
    server: ServerReach,
    opens: ApprovalsOpened,
  ): readonly SecurityFinding[]
  /** Loads heavy dependencies here and not earlier. Throws `config_invalid` when the options cannot be used. */
  create(deps: PlatformDeps): PlatformAdapter | Promise<PlatformAdapter>
}

export interface ConnectorModule extends AdapterModule {
  /** Its agents answer at URLs that they get with a turn. With several nodes, these URLs must lead to any of them. */
  readonly callsBack?: true
  /**
   * Whether its agents ask people about tool calls, by their options. Then `doctor` requires a reachable approver.
   */
  asks?(options: Options): boolean
  doctor?(agent: AgentSettings, server: { readonly publicUrl: string | null }): readonly GateView[]
  security?(agent: AgentSettings, server: ServerReach): readonly SecurityFinding[]
  create(deps: ConnectorDeps): AgentConnector | Promise<AgentConnector>
}

/** What a person who speaks as an approver of an integration can do. */
export interface ApprovalsOpened {
  /** The senders who may decide approvals there. */
  readonly approvers: readonly string[]
  /** An agent bound there runs real tools. The demo agent only pretends. */
  readonly real: boolean
}

/** From where this server can be reached, by its settings. */
export interface ServerReach {
  /** Its listening address. */
  readonly host: string
  /** Its listener can be reached from this machine only. */
  readonly near: boolean
  /** It has a public URL. Requests through its proxy look local, so no request counts as near. */
  readonly public: boolean
}

/** A platform that can be configured but is not built: it has no adapter. */
export type PlannedModule = Pick<
  PlatformModule,
  'name' | 'options' | 'defaultAccess' | 'oneWay' | 'nearOnly' | 'hints' | 'provesSenders'
>

export interface DefaultAccess {
  /** `credential`: holders of the platform's own credential may speak. */
  readonly dm: 'pairing' | 'allowlist' | 'disabled' | 'credential'
  /** Further admitted senders: the owner's own addresses. */
  readonly allowFrom?: readonly string[]
  /** The approvers when none are named. */
  readonly approvers?: readonly string[]
}

// ---- Setting one up --------------------------------------------------------------------------------------

export interface ModuleSetup {
  /** The default id. Absent: the module's name. */
  readonly id?: string
  /** The questions for a person, in order. Everything else has a default. */
  readonly questions: readonly SetupQuestion[]
  /** Adds options that follow from the answers, before they are tried and stored. */
  complete?(answers: Options): Options
  /**
   * Tries the answers on the real service. `options` contain the secrets themselves. Throws the error without secrets.
   */
  try?(options: Options, deps: SetupTrial): Promise<{ readonly who: string }>
  /** Returns lines to paste elsewhere (a URL, a manifest). `base` is where this server is reached. */
  paste?(place: SetupPlace): readonly string[]
  /**
   * The other side checks the pasted URL at once, so it can be pasted only while this server runs. It is shown at the
   * end.
   */
  readonly pasteLast?: true
  /** Returns where a person writes to it (a link, an address), if known. `who` comes from `try` or the adapter. */
  url?(place: SetupPlace & { readonly who: string | null }): string | null
  /**
   * Sets it up from one URL, by scheme: `tgram` for `tgram://TOKEN`. Returns the answers in the text after the scheme,
   * by their keys; a secret among them causes a warning. Throws `input_invalid`, without quoting the text.
   */
  readonly schemes?: Readonly<Record<string, (rest: string) => Readonly<Record<string, string>>>>
}

/** The dependencies of a trial. */
export interface SetupTrial {
  readonly clock: Clock
  /** The environment for programs that it starts: PATH, HOME and the like. */
  readonly environment?: Readonly<Record<string, string>>
}

export interface SetupPlace {
  readonly id: string
  /** Where this server is reached. */
  readonly base: string
  readonly options: Options
}

export interface SetupQuestion {
  /** The option that it fills. */
  readonly key: string
  /** Its command-line flag: `token` for `--token`. */
  readonly flag: string
  readonly ask: string
  /** Typed without echo and stored encrypted; the option gets the reference. */
  readonly secret?: boolean
  /**
   * The suffix of the secret that `agents add` names after the agent's id: `signing` for `kate_signing`. Absent: by
   * its key.
   */
  readonly called?: string
  /** Used when nothing is typed. Absent: an answer is required. */
  readonly default?: string
  /** Asked only if this returns true for the previous answers. */
  when?(answers: Options): boolean
  /** Whether it may be omitted, given the previous answers. */
  optional?(answers: Options): boolean
  /** A secret that both sides may choose freely: generated when nothing is typed, and shown once. */
  fresh?(): string
}

// ---- Emulators -------------------------------------------------------------------------------------------

export type StartEmulator = (options: EmulatorOptions) => Promise<RunningEmulator>

export interface EmulatorOptions {
  readonly port: number
  /** The fault plan as written. Throws `input_invalid` naming the rule. */
  readonly faults: unknown
  /** Called with one line for each action of the bot. */
  readonly onBot: (line: string) => void
}

export interface RunningEmulator {
  readonly url: string
  readonly token: string
  /** What to configure: keys of the integration, and the environment of the daemon. */
  readonly integration: Readonly<Record<string, string>>
  readonly environment: Readonly<Record<string, string>>
  /** The connector, where an agent is emulated and not a chat platform. */
  readonly connector?: Readonly<Record<string, string>>
  /** Further ways to talk to it, one line each. */
  readonly more: readonly string[]
  /** Writes as a person in the direct chat with the bot. */
  says(text: string): void
  taps(label: string): void
  stop(): Promise<void>
}

// ---- The book of all of them -----------------------------------------------------------------------------

/** An adapter that the configuration can name: built, or planned. */
export type KnownAdapter<Module extends PlatformModule | ConnectorModule = PlatformModule | ConnectorModule> =
  PlannedModule & Partial<Omit<Module, keyof PlannedModule>>

/** The loaded adapters that a configuration can name, as the configuration sees them. */
export interface LoadedAdapters {
  platform(name: string): KnownAdapter<PlatformModule> | undefined
  connector(name: string): KnownAdapter<ConnectorModule> | undefined
  /** All valid names, loaded or not. */
  readonly platformNames: readonly string[]
  readonly connectorNames: readonly string[]
  readonly modules: readonly ModuleStanding[]
}

/** Where the adapters come from: built-in ones, and third-party modules. */
export interface AdapterSource {
  /**
   * Loads the named adapters and every entry of `modules`. Never throws for one of them: its standing says why it
   * failed. `before`: the result of a recent load of the same file; its modules are not loaded again.
   */
  open(wanted: WantedAdapters, before?: LoadedAdapters): Promise<LoadedAdapters>
}

export interface WantedAdapters {
  /** The base of relative entries of `modules`. */
  readonly folder: string
  readonly modules: readonly string[]
  /** Names as written; `all`: everything built in or planned. */
  readonly platforms: readonly string[] | 'all'
  readonly connectors: readonly string[] | 'all'
  /** The options in the file for each. A module whose schema does not return for them is not used. */
  readonly entries?: readonly WantedOptions[]
}

export interface WantedOptions {
  readonly bank: 'platform' | 'connector'
  readonly name: string
  readonly options: Options
}

// ---- Modules of others -----------------------------------------------------------------------------------

/** The exports of a file or package named under `modules:`, and what a library user passes to the daemon. */
export interface AdapterExports {
  readonly platforms?: readonly PlatformModule[]
  readonly connectors?: readonly ConnectorModule[]
  /** Shown by `doctor`; a package has its own. */
  readonly version?: string
}

/** The result of loading one entry of `modules:`. */
export interface ModuleStanding {
  /** The entry as written. */
  readonly from: string
  /** Its file; null: not found, or passed in. */
  readonly file: string | null
  /** The version of the package or of its `version` export, else the digest of the file. */
  readonly version: string | null
  readonly platforms: readonly string[]
  readonly connectors: readonly string[]
  /** Why it is not used; null: it is used. */
  readonly problem: string | null
}
