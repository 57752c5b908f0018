// `switchboard init`: the wizard at a terminal; for scripts a commented starter switchboard.yaml with a fresh secret for its
// webhook, or with --platform what the flags say.
import { randomBytes } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { shellWord } from '../../../config/instance/shell-word.ts'
import { DEFAULT_PORT, SwitchboardError } from '../../../contract/index.ts'
import type { Context, Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { ignoreSecrets } from '../../git-keeping.ts'
import { oneLine } from '../../output/text.ts'
import { remember } from '../../own-instance.ts'
import { readFlags, typedFlags } from '../../setup-answers.ts'
import { type StarterAgent, stemOf } from '../../starter-agent.ts'
import { starterYaml } from '../../starter-config.ts'
import type { Wish } from '../../wizard/ask-plan.ts'
import type { Prompts } from '../../wizard/prompts.ts'

export interface InitOptions {
  readonly agent?: string
  readonly hook?: string
  readonly port?: string
  readonly yes?: boolean
  readonly force?: boolean
  /** Of another machine, for Claude Code; of an agent, where its connector asks for one. */
  readonly url?: string
  readonly tokenFile?: string
  readonly platform?: readonly string[]
  readonly set?: readonly string[]
  readonly agentId?: string
  /** Undefined: asked. */
  readonly start?: boolean
  readonly wait?: boolean
}

/** All else that the help names answers a question of some connector. */
const OWN = [
  'agent',
  'hook',
  'port',
  'yes',
  'force',
  'tokenFile',
  'platform',
  'set',
  'agentId',
  'start',
  'wait',
]

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
  const given = { ...options, file, flags, named: typedFlags(options, OWN) }
  if (prompts !== null || options.platform !== undefined) return wizard(context, prompts, given)
  return writeStarter(context, given)
}

type Given = InitOptions & Pick<Wish, 'file' | 'flags' | 'named'>

/** The starter for scripts: web chat, a webhook with a fresh secret, and the agent that the flags name. */
async function writeStarter(context: Context, options: Given): Promise<number> {
  const { file } = options
  const { starterAgent } = await import('../../starter-agent.ts')
  const own = await starterAgent(context, options)
  const agent = own?.id ?? answerOf('id of the demo agent', options.agent, 'demo', checkId)
  const hook = answerOf('id of the webhook (/hooks/ID)', options.hook, 'alerts', checkId)
  const port = answerOf('port', options.port, String(DEFAULT_PORT), checkPort)
  if (hook === 'web') throw usage('--hook: "web" is the id of the chat page', 'choose another id')

  const secretFile = `${stemOf(file)}.${hook}.secret`
  const secretPath = join(dirname(file), secretFile)
  const chosen = options.port !== undefined || Number(port) !== DEFAULT_PORT
  const yaml = starterYaml({
    ...{ agent, hook, secretFile: `./${secretFile}` },
    ...(own ? { connector: own.connector } : {}),
    port: chosen ? Number(port) : null,
  })
  const { writeWhole } = await import('../../wizard/write-plan.ts')
  writeWhole(file, yaml, options.force === true)
  // An existing secret is kept even with --force: whoever signs with it would be locked out.
  const secretKept = await writeSecret(secretPath)
  for (const { path, value } of own?.files ?? []) await create(path, `${value}\n`, 0o600)
  await own?.keep()
  const secrets = [secretFile, ...(own?.files ?? []).map(({ path }) => basename(path))]
  const ignored = await ignoreSecrets(dirname(file), secrets).catch((problem) => {
    throw cannotWrite(join(dirname(file), '.gitignore'), problem)
  })
  remember(context, context.instanceOf(file))
  const written = { file, secretPath, secretKept, ignored, own, next: upCommand(context, file) }
  if (!context.json) return tellWritten(context, written)
  await context.printJson({
    ok: true,
    file,
    secret_file: secretPath,
    secret_kept: secretKept,
    gitignore_written: ignored,
    ...own?.jsonFields,
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
  readonly own: StarterAgent | null
  readonly next: string
}

async function tellWritten(context: Context, written: Written): Promise<number> {
  const { file, secretPath, secretKept, ignored, own } = written
  const { paint } = context
  await context.print(`${paint.green('wrote')} ${file}`)
  await context.print(
    `${paint.green(secretKept ? 'kept ' : 'wrote')} ${secretPath} (the webhook's secret, for your eyes only)`,
  )
  if (ignored)
    await context.print(
      `${paint.green('wrote')} ${join(dirname(file), '.gitignore')} (what git must not take)`,
    )
  for (const { path, made, ask } of own?.files ?? [])
    await context.print(`${paint.green(made ? 'wrote' : 'uses ')} ${path} (${ask}: give it to your agent)`)
  for (const { name, ask } of own?.kept ?? [])
    await context.print(`${paint.green('kept ')} ${ask}, encrypted, as secret:${name}`)
  for (const line of own?.paste ?? []) await context.print(oneLine(line))
  await context.print(`\nNext: ${paint.bold(written.next)}`)
  return 0
}

/** A person is at the terminal, and has not said to be left alone. */
async function promptsFor(context: Context, { yes }: InitOptions): Promise<Prompts | null> {
  if (yes === true || context.json || !context.terminal.inputIsTty) return null
  return context.terminal.prompts()
}

async function wizard(context: Context, prompts: Prompts | null, options: Given): Promise<number> {
  const { file, flags, named, port } = options
  const problem = port === undefined ? null : checkPort(port)
  if (problem !== null) throw usage(`port: "${port}" ${problem}`)
  const { runWizard } = await import('../../wizard/run-wizard.ts')
  return runWizard(context, prompts, {
    ...{ file, port: port === undefined ? null : Number(port), force: options.force === true },
    ...{ platforms: options.platform ?? [], agent: options.agent ?? null, agentId: options.agentId ?? null },
    ...{ set: options.set ?? [], flags, named, yes: options.yes === true },
    ...{ start: options.start ?? null, wait: options.wait !== false },
  })
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
