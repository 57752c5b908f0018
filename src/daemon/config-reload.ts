// From a changed file to running parts: a new configuration is applied by the gateway, told in the log and put down in
// the ledger; one that does not hold is told, and the old one stays.
import type { ConfigSource } from '../config/config-source.ts'
import type { Logger, Settings, Store } from '../contract/index.ts'
import type { ReloadOutcome } from '../operations/context.ts'

export interface ConfigReloadDeps {
  readonly config: ConfigSource
  readonly settings: () => Settings
  readonly store: Pick<Store, 'note'>
  readonly log: Logger
  readonly apply: () => Promise<void>
}

export interface ConfigReload {
  /** Reads the file again. What it changed may still be being applied: `settled` waits for that. */
  reload(by: string): Promise<ReloadOutcome>
  /** The last change is applied and written down. */
  settled(): Promise<void>
}

export function createConfigReload({ config, settings, store, log, apply }: ConfigReloadDeps): ConfigReload {
  let applied: Promise<void> = Promise.resolve()
  config.onReload((result, by = 'the file changed') => {
    if (result.outcome !== 'invalid') return
    log.error({ by, problem: result.text }, 'the new configuration does not hold; the old one stays')
  })
  config.onChange((now) => {
    applied = apply()
      .then(() => store.note([{ kind: 'config', ref: now.digest, detail: { what: 'reload' } }]))
      .then(() => log.info({ digest: now.digest }, 'configuration reloaded'))
      .catch((thrown) =>
        log.error(
          { error: String(thrown) },
          'the configuration was not applied, or its reload is not in the ledger',
        ),
      )
  })
  return {
    async reload(by) {
      const result = await config.reload(by)
      // The file says the same, but a secret behind it may be new, and what could not start may be able to now.
      if (result.outcome === 'unchanged')
        applied = apply().catch((thrown) =>
          log.error({ error: String(thrown) }, 'the configuration could not be applied'),
        )
      const problem = result.outcome === 'invalid' ? result.text : null
      return { ok: problem === null, problem, digest: settings().digest, warnings: settings().warnings }
    },
    settled: () => applied,
  }
}
