// `switchboard init`: the wizard at a terminal; for scripts a commented starter switchboard.yaml with a fresh secret for its
// webhook, or with --platform what the flags say.
import { dirname, join, resolve } from 'node:path'
import { shellWord } from '../../../config/instance/shell-word.ts'
import { DEFAULT_PORT, SwitchboardError } from '../../../contract/index.ts'
import type { Prompts } from '../../../setup/asker.ts'
import { ignoreSecrets } from '../../../setup/git-ignore.ts'
import { writeStarter } from '../../../setup/starter.ts'
import { wordsIn } from '../../../words/index.ts'
import { askerAt } from '../../asker.ts'
import { type Context, createContext, type Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { readFlags, typedFlags } from '../../flags.ts'
import { keepSecrets } from '../../keep-secrets.ts'
import { oneLine } from '../../output/text.ts'
import { remember } from '../../own-instance.ts'

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

/** Every other option that the help names answers a question of some connector. */
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

/** What was typed, with the flags of modules apart. */
interface Typed extends InitOptions {
  readonly file: string
  /** By name, without the dashes. */
  readonly flags: ReadonlyMap<string, string>
  /** Flags that the help names. Only some connectors ask for them. */
  readonly named: ReadonlyMap<string, string>
}

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
  const typed = { ...options, file, flags, named: typedFlags(options, OWN) }
  const own = contextOf(context, file)
  return prompts !== null || options.platform !== undefined
    ? wizard(own, prompts, typed)
    : starter(own, typed)
}

/** Of the instance that the file makes: there may have been none when the command began. */
function contextOf(outer: Context, file: string): Context {
  const { data } = outer.instanceOf(file)
  const named = data.from === 'beside' ? {} : { data: data.path }
  return {
    ...createContext(outer.terminal, { json: outer.json, config: file, ...named }),
    paint: outer.paint,
  }
}

/** Null: no person is at the terminal, or `--yes` says to ask nothing. */
async function promptsFor(context: Context, { yes }: InitOptions): Promise<Prompts | null> {
  if (yes === true || context.json || !context.terminal.inputIsTty) return null
  return context.terminal.prompts()
}

async function wizard(context: Context, prompts: Prompts | null, typed: Typed): Promise<number> {
  const { runWizard } = await import('../../wizard/run-wizard.ts')
  return runWizard(context, prompts, {
    path: typed.file,
    port: typed.port === undefined ? null : portOf(typed.port),
    force: typed.force === true,
    platforms: typed.platform ?? [],
    agent: typed.agent ?? null,
    agentId: typed.agentId ?? null,
    set: typed.set ?? [],
    flags: typed.flags,
    named: typed.named,
    yes: typed.yes === true,
    start: typed.start ?? null,
    wait: typed.wait !== false,
  })
}

async function starter(context: Context, typed: Typed): Promise<number> {
  const { file, flags, named, agent = 'demo', hook = 'alerts', force = false } = typed
  const port = typed.port === undefined ? null : portOf(typed.port, `leave it out for ${DEFAULT_PORT}`)
  const wish = { file, agent, hook, port, force, flags, named }
  const written = await writeStarter(askerAt(context), context.folder, wish, (secrets) =>
    keepSecrets(context, { path: file, ownStore: false }, secrets),
  )
  const { secretFile, secretKept, files, jsonFields } = written
  const gitignore = join(dirname(file), '.gitignore')
  const ignored = await ignoreSecrets(dirname(file), [secretFile, ...files.map(({ path }) => path)]).catch(
    (problem: Error) => {
      const text = `cannot write ${gitignore}: ${problem.message}`
      throw new SwitchboardError('execution_failed', text, { cause: problem })
    },
  )
  remember(context)
  const next = upCommand(context, file)
  if (context.json) {
    await context.printJson({
      ok: true,
      file,
      secret_file: secretFile,
      secret_kept: secretKept,
      gitignore_written: ignored,
      ...jsonFields,
      next,
    })
    return 0
  }
  const { green, bold } = context.paint
  const words = wordsIn().setupCommands.init
  await context.print(words.wrote({ file, mark: green }))
  const secretText = secretKept ? words.keptSecret : words.wroteSecret
  await context.print(secretText({ file: secretFile, mark: green }))
  if (ignored) await context.print(words.wroteIgnore({ file: gitignore, mark: green }))
  for (const { path, made, ask } of files) {
    const fileText = made ? words.wroteForAgent : words.usesForAgent
    await context.print(fileText({ file: path, ask, mark: green }))
  }
  for (const { name, ask } of written.kept) await context.print(words.kept({ name, ask, mark: green }))
  for (const line of written.paste) await context.print(oneLine(line))
  await context.print(`\n${words.next({ command: next, mark: bold })}`)
  return 0
}

export function upCommand(context: Context, file: string): string {
  const isFound = file === resolve(context.terminal.cwd(), 'switchboard.yaml')
  return isFound ? 'switchboard up' : `switchboard up --config ${shellWord(file)}`
}

export function portOf(text: string, hint?: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535) return Number(text)
  throw usage(`port: "${text}" is not a port: 1 to 65535`, hint)
}
