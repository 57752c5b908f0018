// The way from nothing to a bot that answers: questions, a file, a daemon, the first message and its answer.
import { dirname, resolve } from 'node:path'
import { readDaemonNote } from '../../config/instance/daemon-note.ts'
import { shellWord } from '../../config/instance/shell-word.ts'
import { DEFAULT_PORT, type IntegrationView } from '../../contract/index.ts'
import { daemonNow, reachOf, startInBackground } from '../background.ts'
import { type Context, createContext } from '../context.ts'
import { ignoreSecrets } from '../git-keeping.ts'
import { oneLine } from '../output/text.ts'
import { remember } from '../own-instance.ts'
import { isPastedBefore } from '../setup-answers.ts'
import { askPlan, type Wish } from './ask-plan.ts'
import { readFileFacts } from './file-facts.ts'
import { awaitFirstMessage } from './first-message.ts'
import type { Plan } from './plan.ts'
import { isCancelled, type Prompts } from './prompts.ts'
import { textOf, writePlan } from './write-plan.ts'

export interface WizardOptions extends Omit<Wish, 'facts' | 'base'> {
  /** Null: none was chosen. */
  readonly port: number | null
  readonly force: boolean
  /** Null: asked. */
  readonly start: boolean | null
  readonly wait: boolean
}

const LOOK_EVERY_MS = 300

/** Null prompts: every answer is in the options. Throws before anything is written, or says what was. */
export async function runWizard(
  outer: Context,
  prompts: Prompts | null,
  options: WizardOptions,
): Promise<number> {
  const { file } = options
  const context = contextOf(outer, file)
  const facts = options.force ? { ...readFileFacts(''), exists: false } : readFileFacts(file)
  prompts?.begin(facts.exists ? `Switchboard: more for ${file}` : 'Switchboard')
  const base = readDaemonNote(context.folder)?.url ?? `http://127.0.0.1:${options.port ?? DEFAULT_PORT}`
  const plan = await askPlan(context, prompts, { ...options, facts, base })
  const written = textOf(plan, facts, options.port)
  await undisturbed(() => writePlan(context, file, facts, written, options))
  const ignored = await ignoreSecrets(dirname(file), [])
  remember(context)
  const added = plan.integrations.map(({ definition }) => definition.id)
  prompts?.say(`${facts.exists ? 'added to' : 'wrote'} ${file}`, 'good')
  const begin = options.start ?? (prompts !== null && (await wantsStart(prompts)))
  const links = begin ? await started(context, added) : []
  if (prompts === null) return tell(context, { file, plan, added, links, existed: facts.exists, ignored })
  tellLinks(prompts, links)
  for (const [title, lines] of pasted(plan, links)) prompts.show(title, lines)
  if (begin && options.wait && plan.integrations.length > 0) await waitHere(context, prompts, added)
  prompts.end(
    begin
      ? 'It goes on in the background: switchboard status, switchboard logs -f, switchboard stop'
      : `Next: ${upCommand(context, file)}`,
  )
  return 0
}

/** Given up here it is a no: the file stands. */
async function wantsStart(prompts: Prompts): Promise<boolean> {
  try {
    return await prompts.yes('Start it now, in the background?')
  } catch (thrown) {
    if (isCancelled(thrown)) return false
    throw thrown
  }
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

/** A daemon that runs reads the file by itself; that is waited for. */
async function started(context: Context, added: readonly string[]): Promise<readonly IntegrationView[]> {
  if ((await daemonNow(context)) === null)
    await startInBackground(context, { configFile: context.configFile(), up: [] })
  else await (await context.daemon()).call('POST', '/api/reload', { body: {} })
  const { chatLink, integrations } = await reachOf(context)
  return integrations
    .filter(({ id }) => added.includes(id))
    .map((one) =>
      one.reach !== undefined && chatLink?.startsWith(`${one.reach}#`) ? { ...one, reach: chatLink } : one,
    )
}

function tellLinks(prompts: Prompts, links: readonly IntegrationView[]): void {
  for (const { id, link, reach, detail } of links) {
    const why = detail === undefined ? '' : ` (${oneLine(detail)})`
    prompts.say(
      `${id} is ${link}${why}${reach === undefined ? '' : `; write to it: ${oneLine(reach)}`}`,
      link === 'down' ? 'warning' : 'good',
    )
  }
}

/** What is to be done elsewhere once it stands: a hook's URL, a host to start. */
function pasted(
  plan: Plan,
  links: readonly IntegrationView[],
): readonly (readonly [string, readonly string[]])[] {
  const hooks = plan.integrations.flatMap(({ definition, module }) => {
    const { paste = [] } = links.find(({ id }) => id === definition.id) ?? {}
    return !isPastedBefore(module) && paste.length > 0
      ? [[`${definition.id}: to paste at the sender`, paste] as const]
      : []
  })
  const { agent } = plan
  const host =
    agent.kind === 'new' && agent.paste.length > 0
      ? [[`${agent.id}: what is left to do`, agent.paste] as const]
      : []
  return [...hooks, ...host]
}

async function waitHere(context: Context, prompts: Prompts, integrations: readonly string[]): Promise<void> {
  prompts.say('Waiting for the first message. Ctrl-C ends the wait, not Switchboard.')
  const since = new Date(context.terminal.now() - 1_000).toISOString()
  let end = () => {}
  const ended = new Promise<void>((done) => {
    end = done
  })
  process.once('SIGINT', end)
  try {
    const pause = () => new Promise<void>((done) => setTimeout(done, LOOK_EVERY_MS))
    await awaitFirstMessage(context, prompts, { integrations, since, ended, pause })
  } catch (thrown) {
    // Ctrl-C at the question for the code: the wait ends, and whoever wrote still waits.
    if (!isCancelled(thrown)) throw thrown
    prompts.say('The wait is ended; they are let in by: switchboard pair approve CODE', 'warning')
  } finally {
    process.off('SIGINT', end)
  }
}

async function tell(
  context: Context,
  done: {
    readonly file: string
    readonly plan: Plan
    readonly added: readonly string[]
    readonly links: readonly IntegrationView[]
    readonly existed: boolean
    readonly ignored: boolean
  },
): Promise<number> {
  const { file, plan, added, links, existed, ignored } = done
  const next = links.length > 0 ? 'switchboard status' : upCommand(context, file)
  const whos = plan.integrations.flatMap(({ definition, who }) =>
    who === null ? [] : [[definition.id, who] as const],
  )
  if (context.json) {
    const reach = Object.fromEntries(
      links.flatMap(({ id, reach: at }) => (at === undefined ? [] : [[id, at]])),
    )
    await context.printJson({
      ok: true,
      file,
      added,
      agent: plan.agent.id,
      who: Object.fromEntries(whos),
      reach,
      gitignore_written: ignored,
      next,
    })
    return 0
  }
  const { paint } = context
  await context.print(`${paint.green(existed ? 'added to' : 'wrote')} ${file}: ${added.join(', ')}`)
  for (const { id, link, reach } of links)
    await context.print(`${id}: ${link}${reach === undefined ? '' : `, ${oneLine(reach)}`}`)
  for (const [title, lines] of pasted(plan, links))
    await context.print(`\n${title}\n${lines.map(oneLine).join('\n')}`)
  await context.print(`\nNext: ${paint.bold(next)}`)
  return 0
}

export function upCommand(context: Context, file: string): string {
  const usual = file === resolve(context.terminal.cwd(), 'switchboard.yaml')
  return usual ? 'switchboard up' : `switchboard up --config ${shellWord(file)}`
}

/** Ctrl-C waits for these few steps: half of them would leave a secret that nobody refers to. */
async function undisturbed<Result>(work: () => Promise<Result>): Promise<Result> {
  const wait = () => undefined
  process.on('SIGINT', wait)
  try {
    return await work()
  } finally {
    process.off('SIGINT', wait)
  }
}
