// `switchboard integrations add PLATFORM`: asks what the platform's module asks, tries the answers on the real thing,
// and keeps them only then. `add ID --platform NAME` is for scripts: it takes the keys as the file would, and asks nothing.
import { setTimeout as pause } from 'node:timers/promises'
import {
  defined,
  type IntegrationView,
  type PlatformModule,
  SwitchboardError,
} from '../../../contract/index.ts'
import type { SetupAccess } from '../../configuration.ts'
import type { Context, Run } from '../../context.ts'
import type { ApiClient } from '../../daemon-client.ts'
import { usage } from '../../failure.ts'
import { oneLine, safeLines } from '../../output/text.ts'
import { daemonsFile } from '../../own-instance.ts'
import {
  type Definition,
  gatherAnswers,
  isPastedBefore,
  putAt,
  readFlags,
  type SecretAnswers,
  withSecrets,
} from '../../setup-answers.ts'
import { put, reader, tryOut } from '../../try-definition.ts'
import { type IntegrationList, scopeOf, tell } from './integrations.ts'

export interface AddOptions {
  readonly platform?: string
  readonly id?: string
  readonly set?: readonly string[]
  readonly agent?: string
  readonly scope?: string
  readonly default?: boolean
  readonly yes?: boolean
}

const LINK_LOOK_MS = 250
const LINK_LOOKS = 40

export const addIntegration: Run<AddOptions> = async (context, words, options) => {
  const { flags: written, rest } = readFlags(words)
  const line = await fromLine(daemonsFile(context), rest[0])
  const { platform, id, asks } = whichOf(line === null ? rest : [line.platform, ...rest.slice(1)], options)
  const flags = new Map([...(line?.flags ?? []), ...written])
  const definition: Definition = { id, platform }
  for (const pair of options.set ?? []) put(definition, pair)
  if (options.scope !== undefined) definition.scope = scopeOf(options.scope)
  if (options.default === true) definition.default = true

  const { openSetup } = await import('../../configuration.ts')
  const door = await openSetup(daemonsFile(context), platform)
  // A library user's own platform is known to the daemon alone: in a script it judges.
  if (asks || flags.size > 0 || door.planned) demandBuilt(door, platform)
  const daemon = await context.daemon()
  if (asks) await demandFree(daemon, id)

  const called = (flag: string) =>
    line?.flags.has(flag) && !written.has(flag) ? 'what is in the URL' : `--${flag}`
  const wish = { flags, asks, yes: options.yes === true, read: reader(door.module), called }
  const questions = door.module?.setup?.questions ?? []
  const before = door.module !== null && isPastedBefore(door.module)
  if (before && asks) await showPaste(context, door.module, flags)
  const secrets = await gatherAnswers(context, definition, { questions, ...wish })
  const more = door.module?.setup?.complete?.(withSecrets(definition, secrets)) ?? {}
  for (const [key, value] of Object.entries(more)) putAt(definition, key, value)
  const who = door.module === null ? null : await tryOut(context, door, definition, secrets)
  if (asks && !(await agreed(context, id, options.yes === true))) {
    context.note('nothing was kept')
    return 1
  }
  const agent = defined({ agent: options.agent })
  const added = await linked(daemon, await undisturbed(() => keep(daemon, definition, secrets, agent)))
  const code = await tell(context, who === null ? added : { ...added, who }, 'is kept, encrypted')
  if (context.json) return code
  if (!before) for (const line of added.paste ?? []) await context.print(`  ${safeLines(line)}`)
  const reach = before ? await reachOf(context, door, added, who) : null
  if (reach) await context.print(`  write to it: ${oneLine(reach)}`)
  if (asks && options.agent === undefined)
    context.note('no agent takes its messages: give it one with --agent')
  return code
}

/**
 * Once its link is up, or after some seconds: what is written to it before is heard by nobody, and a platform may never tell of it.
 */
async function linked(daemon: ApiClient, added: IntegrationView): Promise<IntegrationView> {
  let now = added
  for (let look = 0; now.link === 'connecting' && look < LINK_LOOKS; look++) {
    await pause(LINK_LOOK_MS)
    const { items } = await daemon.call<IntegrationList>('GET', '/api/integrations')
    const found = items.find(({ id }) => id === added.id)
    if (found === undefined) break
    now = { ...added, ...found }
  }
  return now
}

/** Where a person writes to it now; the daemon may not know yet. */
async function reachOf(
  context: Context,
  { module }: SetupAccess,
  { id, reach }: IntegrationView,
  who: string | null,
): Promise<string | null> {
  if (reach !== undefined || module?.setup?.url === undefined) return reach ?? null
  const { ownAddress } = await import('../../configuration.ts')
  const base = await ownAddress(context.folder, daemonsFile(context))
  return module.setup.url({ id, base, options: {}, who })
}

/** How to get at what is asked for next, where a person sits and does not have it at hand yet. */
async function showPaste(
  context: Context,
  module: PlatformModule,
  flags: ReadonlyMap<string, string>,
): Promise<void> {
  const open = module.setup?.questions.some(({ secret, flag }) => secret && !flags.has(flag))
  if (!open || context.json || !context.terminal.inputIsTty) return
  const { pasteOf } = await import('../../configuration.ts')
  for (const line of await pasteOf(module, context.folder, daemonsFile(context)))
    context.note(safeLines(line))
}

/** `tgram://TOKEN`: the platform whose module knows the scheme, and the answers in the rest. Null: it is no such line. */
async function fromLine(file: string | null, word: string | undefined) {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(word ?? '') ?? []
  if (scheme === '') return null
  const { openSchemes } = await import('../../configuration.ts')
  const schemes = await openSchemes(file)
  const found = schemes.get(scheme.toLowerCase())
  if (found === undefined)
    throw usage(
      `no platform is set up by ${oneLine(scheme)}://`,
      `those that are: ${[...schemes.keys()].map((one) => `${one}://`).join(', ')}`,
    )
  const answers = found.read(rest)
  const flags = new Map(
    found.questions.flatMap(({ key, flag }) =>
      answers[key] === undefined ? [] : [[flag, answers[key]] as const],
    ),
  )
  return { platform: found.platform, flags }
}

function whichOf(rest: readonly string[], { platform, id }: AddOptions) {
  const [word, more] = rest
  if (word === undefined) throw usage('no platform is named', 'switchboard integrations add PLATFORM')
  if (more !== undefined) throw usage(`"${oneLine(more)}" is one word too many`)
  if (platform !== undefined) {
    if (id !== undefined) throw usage('the id is given twice', 'leave --id out where --platform is written')
    return { platform, id: word, asks: false }
  }
  return { platform: word, id: id ?? word, asks: true }
}

function demandBuilt({ module, names, planned, problems }: SetupAccess, platform: string): void {
  if (module !== null) return
  const what = planned
    ? `platform "${oneLine(platform)}" is planned, but not in this version`
    : `there is no platform "${oneLine(platform)}"`
  throw usage([what, ...problems.map(oneLine)].join('; '), `what there is: ${names.join(', ')}`)
}

/** Before anybody types a secret for nothing. */
async function demandFree(daemon: ApiClient, id: string): Promise<void> {
  if (!(await isThere(daemon, id))) return
  throw new SwitchboardError('conflict', `integration "${id}" is there already`, {
    hint: 'choose another id with --id ID',
  })
}

async function isThere(daemon: ApiClient, id: string): Promise<boolean> {
  const { items } = await daemon.call<IntegrationList>('GET', '/api/integrations')
  return items.some((one) => one.id === id)
}

async function agreed(context: Context, id: string, yes: boolean): Promise<boolean> {
  if (yes || context.json || !context.terminal.inputIsTty) return true
  const answer = await context.terminal.ask(`keep it as ${id}? [Y/n]: `)
  return answer !== null && /^(y(es)?)?$/i.test(answer.trim())
}

/** Secrets under names that nobody has, then the integration. What cannot be finished is taken back. */
async function keep(
  daemon: ApiClient,
  definition: Definition,
  secrets: SecretAnswers,
  agent: { readonly agent?: string },
): Promise<IntegrationView> {
  const kept: string[] = []
  try {
    const taken = new Set(secrets.size === 0 ? [] : await secretNames(daemon))
    for (const [key, value] of secrets) {
      const name = freeName(`${String(definition.id)}.${key}`, taken)
      taken.add(name)
      kept.push(name)
      await daemon.call('PUT', secretPath(name), { body: { value } })
      putAt(definition, key, `secret:${name}`)
    }
    return await daemon.call<IntegrationView>('POST', '/api/integrations', { body: { definition, ...agent } })
  } catch (thrown) {
    await takeBack(daemon, kept, String(definition.id), thrown)
    throw thrown
  }
}

/** An answer that never came may have been a yes: then what was kept is in use, and stays. */
async function takeBack(
  daemon: ApiClient,
  kept: readonly string[],
  id: string,
  thrown: unknown,
): Promise<void> {
  if (kept.length === 0) return
  const refused = thrown instanceof SwitchboardError && thrown.code === 'conflict'
  if (!refused && (await isThere(daemon, id).catch(() => true))) return
  for (const name of kept) await daemon.call('DELETE', secretPath(name)).catch(() => undefined)
}

async function secretNames(daemon: ApiClient): Promise<readonly string[]> {
  const names: string[] = []
  for await (const one of daemon.list<string | { readonly name: string }>('/api/secrets', {}, null))
    names.push(typeof one === 'string' ? one : one.name)
  return names
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted
  for (let more = 2; taken.has(name); more++) name = `${wanted}-${more}`
  return name
}

const secretPath = (name: string) => `/api/secrets/${encodeURIComponent(name)}`

/** Ctrl-C waits for these few requests: half of them would leave a secret that nobody refers to. */
async function undisturbed<Result>(work: () => Promise<Result>): Promise<Result> {
  const wait = () => undefined
  process.on('SIGINT', wait)
  try {
    return await work()
  } finally {
    process.off('SIGINT', wait)
  }
}
