// `switchboard init`: the wizard at a terminal; for scripts a commented starter switchboard.yaml with a fresh secret for its
// webhook, or with --platform what the flags say.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { shellWord } from '../../config/shell-word.ts'
import { DEFAULT_PORT, SwitchboardError } from '../../contract/index.ts'
import type { Context, Run } from '../context.ts'
import { usage } from '../failure.ts'
import { ignoreSecrets } from '../git-keeping.ts'
import { oneLine } from '../output/text.ts'
import { remember } from '../own-instance.ts'
import { readFlags } from '../setup-answers.ts'
import { starterYaml } from '../starter-config.ts'
import type { Prompts } from '../wizard/prompts.ts'

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
  readonly platform?: readonly string[]
  readonly set?: readonly string[]
  readonly agentId?: string
  /** Undefined: asked. */
  readonly start?: boolean
  readonly wait?: boolean
}

const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

export const init: Run<InitOptions> = async (context, words, options) => {
  const { flags, rest } = readFlags(words)
  const [kind, more] = rest
  if (more !== undefined) throw usage(`init: "${oneLine(more)}" is one word too many`)
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
  const file = resolve(context.terminal.cwd(), context.givenConfig ?? 'switchboard.yaml')
  const prompts = await promptsFor(context, options)
  if (prompts !== null || options.platform !== undefined)
    return wizard(context, prompts, { ...options, file, flags })
  const stranger = [...flags.keys()].at(0)
  if (stranger !== undefined)
    throw usage(`unknown option "--${oneLine(stranger)}"`, 'see what it takes with --help')
  return writeStarter(context, options, file)
}

/** The starter for scripts: web chat, a webhook with a fresh secret, and the agent that the flags name. */
async function writeStarter(context: Context, options: InitOptions, file: string): Promise<number> {
  const own = options.agent === HTTP ? await ownAgent(context, options, dirname(file), stem(file)) : null
  const model = options.agent === LLM ? await modelAgent(context, options, file) : null
  const agent =
    own || model ? (options.agent ?? '') : answerOf('id of the demo agent', options.agent, 'demo', checkId)
  const hook = answerOf('id of the webhook (/hooks/ID)', options.hook, 'alerts', checkId)
  const port = answerOf('port', options.port, String(DEFAULT_PORT), checkPort)
  if (hook === 'web') throw usage('--hook: "web" is the id of the chat page', 'choose another id')

  const secretFile = `${stem(file)}.${hook}.secret`
  const secretPath = join(dirname(file), secretFile)
  const chosen = options.port !== undefined || Number(port) !== DEFAULT_PORT
  const yaml = starterYaml({
    ...{ agent, hook, secretFile: `./${secretFile}` },
    ...(own ? { connector: own.connector } : model ? { connector: model.connector } : {}),
    port: chosen ? Number(port) : null,
  })
  const { writeWhole } = await import('../wizard/write-plan.ts')
  writeWhole(file, yaml, options.force === true)
  // An existing secret is kept even with --force: whoever signs with it would be locked out.
  const secretKept = await writeSecret(secretPath)
  if (own) await create(own.secretPath, `${own.secret}\n`, 0o600)
  if (model) await model.keep()
  const secrets = [secretFile, ...(own ? [basename(own.secretPath)] : [])]
  const ignored = await ignoreSecrets(dirname(file), secrets).catch((problem) => {
    throw cannotWrite(join(dirname(file), '.gitignore'), problem)
  })
  remember(context, context.instanceOf(file))
  const written = { file, secretPath, secretKept, ignored, own, model, next: upCommand(context, file) }
  if (!context.json) return tellWritten(context, written)
  await context.printJson({
    ok: true,
    file,
    secret_file: secretPath,
    secret_kept: secretKept,
    gitignore_written: ignored,
    ...(own ? { agent_secret_file: own.secretPath, who: own.who } : {}),
    ...(model ? { agent_secret: model.secret, who: model.who } : {}),
    next: written.next,
  })
  return 0
}

function upCommand(context: Context, file: string): string {
  const isFound = file === resolve(context.terminal.cwd(), 'switchboard.yaml')
  return isFound ? 'switchboard up' : `switchboard up --config ${shellWord(file)}`
}

interface Written {
  readonly file: string
  readonly secretPath: string
  /** It was there already. */
  readonly secretKept: boolean
  /** A .gitignore was written. */
  readonly ignored: boolean
  readonly own: Awaited<ReturnType<typeof ownAgent>> | null
  readonly model: Awaited<ReturnType<typeof modelAgent>> | null
  readonly next: string
}

async function tellWritten(context: Context, written: Written): Promise<number> {
  const { file, secretPath, secretKept, ignored, own, model } = written
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
  await context.print(`\nNext: ${paint.bold(written.next)}`)
  return 0
}

/** A person is at the terminal, and has not said to be left alone. */
async function promptsFor(context: Context, { yes }: InitOptions): Promise<Prompts | null> {
  if (yes === true || context.json || !context.terminal.inputIsTty) return null
  return context.terminal.prompts()
}

async function wizard(
  context: Context,
  prompts: Prompts | null,
  options: InitOptions & { readonly file: string; readonly flags: ReadonlyMap<string, string> },
): Promise<number> {
  const { file, url, mode, provider, model, baseUrl, apiKeyFile, port } = options
  const problem = port === undefined ? null : checkPort(port)
  if (problem !== null) throw usage(`port: "${port}" ${problem}`)
  const named = Object.entries({
    ...{ url, mode, provider, model, 'base-url': baseUrl },
    ...{ 'api-key': apiKeyFile === undefined ? undefined : `file:${resolve(apiKeyFile)}` },
  }).filter((one): one is [string, string] => one[1] !== undefined)
  const { runWizard } = await import('../wizard/run-wizard.ts')
  return runWizard(context, prompts, {
    ...{ file, port: port === undefined ? null : Number(port), force: options.force === true },
    ...{ platforms: options.platform ?? [], agent: options.agent ?? null, agentId: options.agentId ?? null },
    ...{ set: options.set ?? [], flags: new Map([...named, ...options.flags]), yes: options.yes === true },
    ...{ start: options.start ?? null, wait: options.wait !== false },
  })
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
  const typed = options.url
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

/** A flag, or the default. */
function answerOf(what: string, given: string | undefined, fallback: string, check: Check): string {
  const problem = given === undefined ? null : check(given)
  if (problem !== null) throw usage(`${what}: "${given}" ${problem}`, `leave it out for ${fallback}`)
  return given ?? fallback
}

const checkId: Check = (value) =>
  ID.test(value) ? null : 'is not an id: letters, digits, "_", "-" and ".", starting with a letter or digit'
const checkPort: Check = (value) =>
  /^\d{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535
    ? null
    : 'is not a port: 1 to 65535'

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
