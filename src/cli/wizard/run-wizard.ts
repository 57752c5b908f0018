// The way from nothing to a bot that answers: questions, a file, a daemon, the first message and its answer.
import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { readDaemonNote } from '../../config/instance/daemon-note.ts'
import { DEFAULT_PORT, type IntegrationView } from '../../contract/index.ts'
import { isCancelled, type Prompts } from '../../setup/asker.ts'
import { readConfigFile, textWithPlan } from '../../setup/config-file.ts'
import { ignoreSecrets } from '../../setup/git-ignore.ts'
import { isPastedBefore } from '../../setup/integration.ts'
import { askPlan, isOneWay, type Plan, type PlannedIntegration, type PlanWish } from '../../setup/plan.ts'
import { writeConfigFile } from '../../setup/write-file.ts'
import { wordsIn } from '../../words/index.ts'
import { askerWith } from '../asker.ts'
import { daemonNow, reachOf, startInBackground } from '../background.ts'
import { upCommand } from '../commands/setup/init.ts'
import type { Context } from '../context.ts'
import { keepSecrets, undisturbed } from '../keep-secrets.ts'
import { oneLine } from '../output/text.ts'
import { remember } from '../own-instance.ts'
import { awaitFirstMessage } from './first-message.ts'

export interface WizardOptions extends Omit<PlanWish, 'file' | 'base'> {
  readonly path: string
  /** Null: no port was chosen. */
  readonly port: number | null
  readonly force: boolean
  /** Null: asked. */
  readonly start: boolean | null
  readonly wait: boolean
}

const LOOK_EVERY_MS = 300

/** Null prompts: every answer is in the options. Throws before anything is written. */
export async function runWizard(
  context: Context,
  prompts: Prompts | null,
  options: WizardOptions,
): Promise<number> {
  const { path, port, force } = options
  const file = readConfigFile(path, force)
  const words = wordsIn().setup.wizard
  prompts?.begin(file.exists ? words.beginMore({ file: path }) : words.begin)
  const base = readDaemonNote(context.folder)?.url ?? `http://127.0.0.1:${port ?? DEFAULT_PORT}`
  const plan = await askPlan(askerWith(context, prompts), { ...options, file, base })
  const { text, secrets } = textWithPlan(plan, file, port)
  const keep = () => keepSecrets(context, file, secrets)
  const before = file.exists ? file.text : null
  await undisturbed(() => writeConfigFile(context.folder, { path, text, before, force, keep }))
  const ignored = await ignoreSecrets(dirname(path))
  remember(context)
  const added = plan.integrations.map(({ id }) => id)
  prompts?.say(file.exists ? words.addedTo({ file: path }) : words.wrote({ file: path }), 'good')
  const note = await daemonNow(context)
  const isRunning = note !== null && note.config === realpathSync(path)
  const begin = isRunning || (options.start ?? (prompts !== null && (await wantsStart(prompts))))
  const links = begin ? await started(context, added) : []
  for (const one of plan.integrations.filter(isOneWay))
    (prompts === null ? context.note : prompts.say)(oneWayNote(one))
  if (prompts === null)
    return tell(context, { file: path, plan, added, links, existed: file.exists, ignored, isRunning })
  tellLinks(prompts, links)
  for (const [title, lines] of pasted(plan, links)) prompts.show(title, lines)
  if (isRunning) prompts.say(words.applied, 'good')
  if (begin && options.start !== false && options.wait && plan.integrations.length > 0)
    await waitHere(context, prompts, added)
  prompts.end(begin ? words.goesOn : words.next({ command: upCommand(context, path) }))
  return 0
}

function oneWayNote({ id, module }: Pick<PlannedIntegration, 'id' | 'module'>): string {
  const remedy = oneLine(module.hints?.oneWay ?? '')
  return wordsIn().setup.wizard.oneWay({ integration: id, remedy: remedy === '' ? null : remedy })
}

/** Giving up here means no: the file is written. */
async function wantsStart(prompts: Prompts): Promise<boolean> {
  try {
    return await prompts.yes(wordsIn().setup.wizard.startNow)
  } catch (thrown) {
    if (isCancelled(thrown)) return false
    throw thrown
  }
}

/** Starts the daemon, or waits until a running one has read the file. */
async function started(context: Context, added: readonly string[]): Promise<readonly IntegrationView[]> {
  if ((await daemonNow(context)) === null)
    await startInBackground(context, { configFile: context.configFile(), up: [] })
  else await (await context.daemon()).ask('POST /api/reload')
  const { chatLink, integrations } = await reachOf(context)
  return integrations
    .filter(({ id }) => added.includes(id))
    .map((one) =>
      one.reach !== undefined && chatLink?.startsWith(`${one.reach}#`) ? { ...one, reach: chatLink } : one,
    )
}

function tellLinks(prompts: Prompts, links: readonly IntegrationView[]): void {
  for (const one of links) {
    const { link } = one
    const detail = one.detail === undefined ? null : oneLine(one.detail)
    const reach = one.reach === undefined ? null : oneLine(one.reach)
    const text = wordsIn().setup.wizard.link({ integration: one.id, link, detail, reach })
    prompts.say(text, link === 'down' ? 'warning' : 'good')
  }
}

/** What is left to do elsewhere: paste the URL of a hook, start a host. */
function pasted(
  plan: Plan,
  links: readonly IntegrationView[],
): readonly (readonly [string, readonly string[]])[] {
  const words = wordsIn().setup.wizard
  const hooks = plan.integrations.flatMap(({ id, module }) => {
    const { paste = [] } = links.find((link) => link.id === id) ?? {}
    return !isPastedBefore(module) && paste.length > 0
      ? [[words.pasteAfter({ integration: id }), paste] as const]
      : []
  })
  const { agent } = plan
  const host =
    agent.kind === 'new' && agent.paste.length > 0
      ? [[words.leftToDo({ agent: agent.id }), agent.paste] as const]
      : []
  return [...hooks, ...host]
}

async function waitHere(context: Context, prompts: Prompts, integrations: readonly string[]): Promise<void> {
  const words = wordsIn().setup.firstMessage
  prompts.say(words.waiting)
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
    // Ctrl-C at the question for the code ends the wait. The person who wrote still waits.
    if (!isCancelled(thrown)) throw thrown
    prompts.say(words.waitEnded, 'warning')
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
    readonly isRunning: boolean
  },
): Promise<number> {
  const { file, plan, added, links, existed, ignored, isRunning } = done
  const next = isRunning || links.length > 0 ? 'switchboard status' : upCommand(context, file)
  const whos = plan.integrations.flatMap(({ id, who }) => (who === null ? [] : [[id, who] as const]))
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
  const words = wordsIn().setupCommands.init
  const wrote = { file, added: added.join(', '), mark: paint.green }
  await context.print(existed ? words.addedTo(wrote) : words.wroteWith(wrote))
  if (isRunning) await context.print(wordsIn().setup.wizard.applied)
  for (const { id, link, reach } of links)
    await context.print(`${id}: ${link}${reach === undefined ? '' : `, ${oneLine(reach)}`}`)
  for (const [title, lines] of pasted(plan, links))
    await context.print(`\n${title}\n${lines.map(oneLine).join('\n')}`)
  await context.print(`\n${words.next({ command: next, mark: paint.bold })}`)
  return 0
}
