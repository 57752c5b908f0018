// What an adapter says of itself before it runs: its options, who may speak by default, how it is set up. All that
// registry, configuration, wizard and `doctor` know of a platform or connector; one of somebody else's is its equal.
import type { AgentConnector, ConnectorDeps } from './agent/agent.ts'
import type { Clock } from './clock.ts'
import type { GateView } from './operator/doctor-report.ts'
import type { SecurityFinding } from './operator/security.ts'
import type { PlatformAdapter, PlatformDeps } from './platform/platform.ts'
import type { AgentSettings, IntegrationSettings } from './settings.ts'

/** A Standard Schema that can also tell its JSON Schema: any library that has both will do, and none is needed. */
export interface OptionsSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    /** Must answer at once: a promise is refused. What it gives is what the adapter finds in its options. */
    readonly validate: (value: unknown) => OptionsResult | Promise<OptionsResult>
    /**
     * Of an object. A property with `"x-secret": true` is always written as a reference (`env:`, `file:`, `secret:`);
     * with `"x-secret": "or-text"` it may be. Both are masked wherever the file is shown.
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

/** Validated options, as the adapter's own schema gives them. */
export type Options = Readonly<Record<string, unknown>>

interface AdapterModule {
  /** What the configuration calls it: lower-case letters, digits and dashes. */
  readonly name: string
  readonly options: OptionsSchema
  /** Where one reads about it: a page of this repository's docs/, or a URL. */
  readonly docs: string
  /** What a person calls it where a list offers it. Absent: its name. */
  readonly title?: string
  /** It needs nothing from elsewhere: what a newcomer is offered first. */
  readonly first?: true
  readonly setup?: ModuleSetup
  /** What `switchboard emulate NAME` runs. */
  readonly emulator?: StartEmulator
}

export interface PlatformModule extends AdapterModule {
  /** Who may speak where the configuration says nothing. Absent: only who is listed. */
  readonly defaultAccess?: DefaultAccess | ((options: Options) => DefaultAccess)
  /** Whether an integration with these options can say nothing back. Absent: it can. */
  oneWay?(options: Options): boolean
  /** The key that makes an integration take requests of this machine alone; null: none does. Absent: none ever does. */
  nearOnly?(options: Options): string | null
  /** What would change either, said behind the warning of it. */
  readonly hints?: { readonly oneWay?: string; readonly nearOnly?: string }
  /** Whether it is proven that senders are who they say. Absent: it is. */
  provesSenders?(options: Options): boolean
  /** What is right or wrong with an integration, from its configuration alone: `doctor` shows it, running or not. */
  doctor?(
    integration: IntegrationSettings,
    server: { readonly publicUrl: string | null },
  ): readonly GateView[]
  /** What stands open by its options, besides gates with `open`: `doctor --security` alone lists it. `what` names it. */
  security?(
    integration: IntegrationSettings,
    server: ServerReach,
    opens: ApprovalsOpened,
  ): readonly SecurityFinding[]
  /** Heavy things are loaded here and not before. Throws `config_invalid` when the options cannot be used. */
  create(deps: PlatformDeps): PlatformAdapter | Promise<PlatformAdapter>
}

export interface ConnectorModule extends AdapterModule {
  /** Its agents answer at URLs that are handed to them with a turn: with several nodes these must lead to any of them. */
  readonly callsBack?: true
  /** Whether its agents ask people about tool calls, by their options: then `doctor` wants an approver who can be reached. */
  asks?(options: Options): boolean
  doctor?(agent: AgentSettings, server: { readonly publicUrl: string | null }): readonly GateView[]
  security?(agent: AgentSettings, server: ServerReach): readonly SecurityFinding[]
  create(deps: ConnectorDeps): AgentConnector | Promise<AgentConnector>
}

/** What whoever speaks as an approver of an integration can do. */
export interface ApprovalsOpened {
  /** The senders who may decide approvals there. */
  readonly approvers: readonly string[]
  /** An agent bound there runs tools of its own: the demo agent only plays. */
  readonly real: boolean
}

/** From where this server is reached, as far as its settings tell. */
export interface ServerReach {
  /** Where it listens. */
  readonly host: string
  /** Its listener is reached from this machine alone. */
  readonly near: boolean
  /** It has a public URL: what comes through its proxy looks as if it began here, so nobody counts as near. */
  readonly public: boolean
}

/** One that can be configured and is not built: it has no adapter. */
export type PlannedModule = Pick<
  PlatformModule,
  'name' | 'options' | 'defaultAccess' | 'oneWay' | 'nearOnly' | 'hints' | 'provesSenders'
>

export interface DefaultAccess {
  /** `credential`: whoever holds the platform's own credential may speak. */
  readonly dm: 'pairing' | 'allowlist' | 'disabled' | 'credential'
  /** May speak besides those that are listed: the owner's own addresses. */
  readonly allowFrom?: readonly string[]
  /** Who decides approvals where nobody is named. */
  readonly approvers?: readonly string[]
}

// ---- Setting one up --------------------------------------------------------------------------------------

export interface ModuleSetup {
  /** What one is called by default. Absent: the module's name. */
  readonly id?: string
  /** What a person has to answer; all else has a default. In order. */
  readonly questions: readonly SetupQuestion[]
  /** More options that follow from the answers, before they are tried and kept. */
  complete?(answers: Options): Options
  /** Tries the answers on the real thing. `options` hold the secrets themselves. Throws what went wrong, without them. */
  try?(options: Options, deps: SetupTrial): Promise<{ readonly who: string }>
  /** What to paste elsewhere (a URL, a manifest), line by line. `base` is where this server is reached. */
  paste?(place: SetupPlace): readonly string[]
  /** The other side tries it at once, so it can be pasted only when this server runs: shown at the end. */
  readonly pasteLast?: true
  /** Where a person writes to it (a link, an address), as far as it is known. `who` is what `try` or the adapter said. */
  url?(place: SetupPlace & { readonly who: string | null }): string | null
  /**
   * One line that sets it up, by the scheme of a URL: `tgram` for `tgram://TOKEN`. Gives the answers that stand in the text
   * behind the scheme, by their keys; a secret among them is warned of. Throws `input_invalid`, without quoting the text.
   */
  readonly schemes?: Readonly<Record<string, (rest: string) => Readonly<Record<string, string>>>>
}

/** What a trial has to go by. */
export interface SetupTrial {
  readonly clock: Clock
  /** What a program that is started gets of ours: PATH, HOME and the like. */
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
  /** The same on a command line: `token` for `--token`. */
  readonly flag: string
  readonly ask: string
  /** Typed without echo and kept encrypted; the option gets the reference. */
  readonly secret?: boolean
  /** What `agents add` calls the secret behind the agent's id: `signing` for `kate_signing`. Absent: by its key. */
  readonly called?: string
  /** Taken when nothing is typed. Absent: an answer is needed. */
  readonly default?: string
  /** Asked only where this holds for the answers before it. */
  when?(answers: Options): boolean
  /** Whether it may be left out, after the answers before it. */
  optional?(answers: Options): boolean
  /** A secret that both sides may simply be given: made when nothing is typed, and shown once. */
  fresh?(): string
}

// ---- Emulators -------------------------------------------------------------------------------------------

export type StartEmulator = (options: EmulatorOptions) => Promise<RunningEmulator>

export interface EmulatorOptions {
  readonly port: number
  /** The fault plan as it was written. Throws `input_invalid` naming the rule. */
  readonly faults: unknown
  /** Told what the bot does, one line each. */
  readonly onBot: (line: string) => void
}

export interface RunningEmulator {
  readonly url: string
  readonly token: string
  /** What to write: keys of the integration, and the environment of the daemon. */
  readonly integration: Readonly<Record<string, string>>
  readonly environment: Readonly<Record<string, string>>
  /** Where an agent is emulated, and not a place where people talk: its connector. */
  readonly connector?: Readonly<Record<string, string>>
  /** More ways to talk to it, one line each. */
  readonly more: readonly string[]
  /** A person in the direct chat with the bot. */
  says(text: string): void
  taps(label: string): void
  stop(): Promise<void>
}

// ---- The book of all of them -----------------------------------------------------------------------------

/** One that the configuration can name: built, or planned. */
export type KnownAdapter<Module extends PlatformModule | ConnectorModule = PlatformModule | ConnectorModule> =
  PlannedModule & Partial<Omit<Module, keyof PlannedModule>>

/** The adapters that a configuration can name, as far as they are loaded: how the configuration knows them. */
export interface LoadedAdapters {
  platform(name: string): KnownAdapter<PlatformModule> | undefined
  connector(name: string): KnownAdapter<ConnectorModule> | undefined
  /** All that may be written, loaded or not. */
  readonly platformNames: readonly string[]
  readonly connectorNames: readonly string[]
  readonly modules: readonly ModuleStanding[]
}

/** Where the book comes from: what is built in, and the modules of others. */
export interface AdapterSource {
  /**
   * Loads what is named, and every entry of `modules`. Never throws for one of them: its standing says why. `before`: a
   * book of the same file that was opened just now; its modules are not tried again.
   */
  open(wanted: WantedAdapters, before?: LoadedAdapters): Promise<LoadedAdapters>
}

export interface WantedAdapters {
  /** Where relative entries of `modules` start. */
  readonly folder: string
  readonly modules: readonly string[]
  /** Names as they are written; `all`: everything that is built in or planned. */
  readonly platforms: readonly string[] | 'all'
  readonly connectors: readonly string[] | 'all'
  /** The options that the file gives to each: a module whose schema does not come back from them is not used. */
  readonly entries?: readonly WantedOptions[]
}

export interface WantedOptions {
  readonly bank: 'platform' | 'connector'
  readonly name: string
  readonly options: Options
}

// ---- Modules of others -----------------------------------------------------------------------------------

/** What a file or package named under `modules:` exports, and what a library user hands to the daemon. */
export interface AdapterExports {
  readonly platforms?: readonly PlatformModule[]
  readonly connectors?: readonly ConnectorModule[]
  /** Shown by `doctor`; a package has its own. */
  readonly version?: string
}

/** One entry of `modules:`, as it was found. */
export interface ModuleStanding {
  /** As it was written. */
  readonly from: string
  /** The file behind it; null: it was not found, or handed in. */
  readonly file: string | null
  /** Of the package, of its `version` export, else the digest of the file. */
  readonly version: string | null
  readonly platforms: readonly string[]
  readonly connectors: readonly string[]
  /** Why it is not used; null: it is. */
  readonly problem: string | null
}
