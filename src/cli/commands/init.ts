// `switchboard init`: writes a commented starter switchboard.yaml and a fresh secret for its webhook.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { shellWord } from '../../config/shell-word.ts'
import { DEFAULT_PORT, SwitchboardError } from '../../contract/index.ts'
import type { Context, Run } from '../context.ts'
import { usage } from '../failure.ts'
import { ignoreSecrets } from '../git-keeping.ts'
import { remember } from '../own-instance.ts'
import { starterYaml } from '../starter-config.ts'

export interface InitOptions {
  readonly agent?: string
  readonly hook?: string
  readonly port?: string
  readonly yes?: boolean
  readonly force?: boolean
  readonly url?: string
  readonly tokenFile?: string
  readonly mode?: string
  readonly secretFile?: string
  readonly provider?: string
  readonly model?: string
  readonly baseUrl?: string
  readonly apiKeyFile?: string
}

const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

export const init: Run<InitOptions> = async (context, [kind], options) => {
  if (kind === 'claude-code') {
    const { initClaudeCode } = await import('./init-claude-code.ts')
    return initClaudeCode(context, options)
  }
  if (kind !== undefined) {
    throw usage(
      `init: "${kind}" is nothing that can be set up`,
      'switchboard init claude-code; without a word: the web chat, a webhook and the demo agent',
    )
  }
  const file = resolve(context.givenConfig ?? 'switchboard.yaml')
  const answer = asker(context, options.yes === true)
  const own = options.agent === HTTP ? await ownAgent(context, options, dirname(file), stem(file)) : null
  const model = options.agent === LLM ? await modelAgent(context, options, file) : null
  const agent =
    own || model
      ? (options.agent ?? '')
      : await answer('id of the demo agent', options.agent, 'demo', checkId)
  const hook = await answer('id of the webhook (/hooks/ID)', options.hook, 'alerts', checkId)
  const port = await answer('port', options.port, String(DEFAULT_PORT), checkPort)
  if (hook === 'web') throw usage('--hook: "web" is the id of the chat page', 'choose another id')

  const secretFile = `${stem(file)}.${hook}.secret`
  const secretPath = join(dirname(file), secretFile)
  const chosen = options.port !== undefined || Number(port) !== DEFAULT_PORT
  const yaml = starterYaml({
    ...{ agent, hook, secretFile: `./${secretFile}` },
    ...(own ? { connector: own.connector } : model ? { connector: model.connector } : {}),
    port: chosen ? Number(port) : null,
  })
  await mkdir(dirname(file), { recursive: true }).catch((problem) => {
    throw cannotWrite(file, problem)
  })
  await write(file, yaml, { mode: 0o644, force: options.force === true })
  // An existing secret is kept even with --force: whoever signs with it would be locked out.
  const secretKept = await writeSecret(secretPath)
  if (own) await create(own.secretPath, `${own.secret}\n`, 0o600)
  if (model) await model.keep()
  const secrets = [secretFile, ...(own ? [basename(own.secretPath)] : [])]
  const ignored = await ignoreSecrets(dirname(file), secrets).catch((problem) => {
    throw cannotWrite(join(dirname(file), '.gitignore'), problem)
  })
  remember(context, context.instanceOf(file))

  const upCommand =
    file === resolve('switchboard.yaml') ? 'switchboard up' : `switchboard up --config ${shellWord(file)}`
  if (context.json) {
    await context.printJson({
      ok: true,
      file,
      secret_file: secretPath,
      secret_kept: secretKept,
      gitignore_written: ignored,
      ...(own ? { agent_secret_file: own.secretPath, who: own.who } : {}),
      ...(model ? { agent_secret: model.secret, who: model.who } : {}),
      next: upCommand,
    })
    return 0
  }
  const { paint } = context
  await context.print(`${paint.green('wrote')} ${file}`)
  await context.print(
    `${paint.green(secretKept ? 'kept ' : 'wrote')} ${secretPath} (the webhook's secret, for your eyes only)`,
  )
  if (ignored)
    await context.print(
      `${paint.green('wrote')} ${join(dirname(file), '.gitignore')} (what git must not take)`,
    )
  if (own)
    await context.print(
      `${paint.green(own.known ? 'uses ' : 'wrote')} ${own.secretPath} (signs what is posted to the agent: give it to your agent to verify with)`,
    )
  if (model?.secret)
    await context.print(`${paint.green('kept ')} the API key, encrypted, as secret:${model.secret}`)
  await context.print(`\nNext: ${paint.bold(upCommand)}`)
  return 0
}

const HTTP = 'http'
const LLM = 'llm'
const LLM_SECRET = 'llm_api_key'

/** A model behind an API key: tried before anything is written; the key goes into the encrypted store alone. */
async function modelAgent(context: Context, options: InitOptions, file: string) {
  if (options.force !== true && existsSync(file)) throw isThere(file)
  const { tryLlmAgent } = await import('../llm-agent.ts')
  const { connector, key, who } = await tryLlmAgent(context, options, LLM_SECRET)
  const { stringify } = await import('yaml')
  const yaml = stringify(connector, { collectionStyle: 'flow', lineWidth: 0 }).trim()
  const comment = 'A model behind an API. Tools that do not only read ask you first (docs/agents/llm.md).'
  return {
    connector: { yaml, comment },
    who,
    secret: key === null ? null : LLM_SECRET,
    async keep() {
      if (key === null) return
      const { keepSecretAtRest } = await import('../../app/keep-secret.ts')
      const { data } = context.instanceOf(file)
      await keepSecretAtRest({ dataDir: data.path, configFile: file, name: LLM_SECRET, value: key })
    },
  }
}

const stem = (file: string) => basename(file).replace(/\.ya?ml$/, '')

/** An agent of one's own behind a URL: tried before anything is written. */
async function ownAgent(context: Context, options: InitOptions, folder: string, name: string) {
  const { tryHttpAgent, wishOf } = await import('../http-agent.ts')
  const asks = context.terminal.inputIsTty && !context.json && options.yes !== true
  const typed = options.url ?? (asks ? await context.terminal.ask('URL that turns are posted to: ') : null)
  if (!typed)
    throw usage('--url is missing: where the agent takes turns', 'init --agent http --url https://…')
  const secretName = `${name}.${HTTP}.secret`
  const secretPath = join(folder, secretName)
  const kept = existsSync(secretPath) ? { secretFile: secretPath } : {}
  const tried = await tryHttpAgent(
    context,
    wishOf(typed.trim(), { ...kept, ...options }),
    `file:./${secretName}`,
  )
  const { stringify } = await import('yaml')
  const yaml = stringify(tried.connector, { collectionStyle: 'flow', lineWidth: 0 }).trim()
  const comment = 'Your own agent: every turn is one signed POST (docs/guide/http-agent.md).'
  return { ...tried, secretPath, connector: { yaml, comment } }
}

type Check = (value: string) => string | null

/** A flag wins; then the person is asked, again until it holds; scripts and --yes get the default. */
function asker(context: Context, silent: boolean) {
  const interactive = !silent && !context.json && context.terminal.inputIsTty
  return async (what: string, given: string | undefined, fallback: string, check: Check): Promise<string> => {
    if (given !== undefined) {
      const problem = check(given)
      if (problem !== null) throw usage(`${what}: "${given}" ${problem}`, `leave it out for ${fallback}`)
      return given
    }
    while (interactive) {
      const typed = await context.terminal.ask(`${what} [${fallback}]: `)
      if (typed === null) throw new SwitchboardError('input_invalid', 'nothing was written: the input ended')
      const value = typed.trim() === '' ? fallback : typed.trim()
      const problem = check(value)
      if (problem === null) return value
      context.note(`"${value}" ${problem}`)
    }
    return fallback
  }
}

const checkId: Check = (value) =>
  ID.test(value) ? null : 'is not an id: letters, digits, "_", "-" and ".", starting with a letter or digit'
const checkPort: Check = (value) =>
  /^\d{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535
    ? null
    : 'is not a port: 1 to 65535'

/** Whole or not at all: through a file beside it, so that a full disk never leaves half a configuration. */
async function write(file: string, text: string, options: { mode: number; force: boolean }): Promise<void> {
  if (!options.force) {
    const created = await create(file, text, options.mode)
    if (created) return
    throw isThere(file)
  }
  const beside = `${file}.${randomBytes(4).toString('hex')}.new`
  await create(beside, text, options.mode)
  try {
    await rename(beside, file)
  } catch (problem) {
    await rm(beside, { force: true })
    throw cannotWrite(file, problem as NodeJS.ErrnoException)
  }
}

function isThere(file: string): SwitchboardError {
  return new SwitchboardError('input_invalid', `${file} is there already`, {
    hint: 'overwrite it with --force, or write elsewhere with --config FILE',
  })
}

async function writeSecret(file: string): Promise<boolean> {
  return !(await create(file, `${randomBytes(32).toString('hex')}\n`, 0o600))
}

/** False when something of that name exists. */
async function create(file: string, text: string, mode: number): Promise<boolean> {
  const handle = await open(file, 'wx', mode).catch((problem: NodeJS.ErrnoException) => {
    if (problem.code === 'EEXIST') return null
    throw cannotWrite(file, problem)
  })
  if (handle === null) return false
  try {
    await handle.writeFile(text)
    await handle.sync()
  } catch (problem) {
    await rm(file, { force: true })
    throw cannotWrite(file, problem as NodeJS.ErrnoException)
  } finally {
    await handle.close()
  }
  return true
}

function cannotWrite(file: string, problem: NodeJS.ErrnoException): SwitchboardError {
  return new SwitchboardError('execution_failed', `cannot write ${file}: ${problem.message}`, {
    cause: problem,
  })
}
