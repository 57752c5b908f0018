// Applies a changed configuration file. The gateway applies a valid configuration, and the log and the ledger record
// it. An invalid one is reported, and the old one stays in force.
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
  /** Reads the file again. The changes may still be in progress when this resolves; `settled` waits for them. */
  reload(by: string): Promise<ReloadOutcome>
  /** Resolves when the last change is applied and recorded. */
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
      // The file is the same, but a secret may be new, and an integration that failed may start now.
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
