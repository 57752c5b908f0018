// Keeps secrets for a configuration file: through the daemon that runs, or in the store that it will open.
import type { ConfigFile } from '../setup/config-file.ts'
import { keepSecretAtRest } from '../setup/keep-secret.ts'
import type { Api } from './api.ts'
import { daemonNow } from './background.ts'
import type { Context } from './context.ts'
import { usage } from './failure.ts'

type Secrets = ReadonlyMap<string, string>

export async function keepSecrets(
  context: Context,
  file: Pick<ConfigFile, 'path' | 'ownStore'>,
  secrets: Secrets,
): Promise<void> {
  if (secrets.size === 0) return
  if ((await daemonNow(context)) !== null) return putSecrets(await context.daemon(), secrets)
  if (file.ownStore)
    throw usage(
      `${file.path} has a store of its own, which a daemon has to open; nothing was written`,
      'start it, then run this again: switchboard up --detach',
    )
  for (const [name, value] of secrets)
    await keepSecretAtRest({ dataDir: context.folder.path, configFile: file.path, name, value })
}

export async function putSecrets(daemon: Api, secrets: Secrets): Promise<void> {
  for (const [name, value] of secrets)
    await daemon.ask('PUT /api/secrets/{name}', { path: { name }, body: { value } })
}

/** Ctrl-C waits for these few steps: half of them would leave a secret that nothing refers to. */
export async function undisturbed<Result>(work: () => Promise<Result>): Promise<Result> {
  const wait = () => undefined
  process.on('SIGINT', wait)
  try {
    return await work()
  } finally {
    process.off('SIGINT', wait)
  }
}
