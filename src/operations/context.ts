// What every operation runs on: the store, the settings and the clock, and the parts that only a running daemon has.
import type { SecretStore } from '../config/secrets/secret-store.ts'
import type { StoredIntegrations } from '../config/stored-integrations.ts'
import { type Clock, type Random, type Settings, type Store, SwitchboardError } from '../contract/index.ts'
import type { ChatLinks } from '../gateway/access/chat-link.ts'
import type { ConsoleLogin } from '../gateway/access/console-login.ts'
import type { Tokens } from '../gateway/access/tokens.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { Doctor } from '../health/doctor.ts'
import type { Standing } from '../health/overview.ts'
import type { Adapters } from '../modules/module-catalog.ts'
import type { ConfigViews } from './config-view.ts'

export interface ReloadOutcome {
  readonly ok: boolean
  readonly problem: string | null
  readonly digest: string
  readonly warnings: readonly string[]
}

export interface LiveParts {
  readonly gateway: Gateway
  readonly random: Random
  readonly tokens: Tokens
  readonly secrets: SecretStore
  /** Null: no integrations can be added by command here. */
  readonly added: StoredIntegrations | null
  readonly adapters?: Pick<Adapters, 'loadedPlatform'> | undefined
  readonly doctor: Doctor
  readonly reload: (by: string) => Promise<ReloadOutcome>
  readonly chatLink: ChatLinks
  readonly consoleLink: ConsoleLogin['link']
  readonly configViews: ConfigViews
  /** The public URL of the server. Absent: unknown here. */
  readonly baseUrl?: (() => string) | undefined
  /** The URL where this process listens. Absent: it does not. */
  readonly listensAt?: (() => string) | undefined
}

export interface OperationContext {
  readonly store: Store
  readonly settings: () => Settings
  readonly clock: Clock
  /** The facts of the process about itself. */
  readonly standing: () => Standing
  /** Null: no daemon runs, and the store is only read. */
  readonly live: LiveParts | null
}

/** Throws `daemon_absent` where no daemon runs. */
export function liveParts({ live }: Pick<OperationContext, 'live'>): LiveParts {
  if (live !== null) return live
  throw new SwitchboardError('daemon_absent', 'this needs a running daemon', {
    hint: 'start it with: switchboard up',
  })
}
