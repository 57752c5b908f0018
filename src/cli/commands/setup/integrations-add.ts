// `switchboard integrations add PLATFORM`: asks what the platform's module asks, tries the answers on the real thing,
// and keeps them only then. `add ID --platform NAME` is for scripts: it takes the keys as the file would, and asks nothing.
import { setTimeout as pause } from 'node:timers/promises'
import {
  CHANNEL_PLATFORM,
  defined,
  type IntegrationView,
  type PlatformModule,
  SwitchboardError,
} from '../../../contract/index.ts'
import { type Catalog, openCatalog } from '../../../setup/catalog.ts'
import { ownAddress } from '../../../setup/check-file.ts'
import { type Definition, freeName, putAt, type SecretAnswers } from '../../../setup/definition.ts'
import { answerIntegration, isPastedBefore } from '../../../setup/integration.ts'
import { putPair } from '../../../setup/plan.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Api } from '../../api.ts'
import { askerAt } from '../../asker.ts'
import type { Context, Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { readFlags } from '../../flags.ts'
import { putSecrets, undisturbed } from '../../keep-secrets.ts'
import { oneLine, safeLines } from '../../output/text.ts'
import { daemonsFile } from '../../own-instance.ts'
import { pasteOf, scopeOf, tell } from './integrations.ts'

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

export const addIntegration: Run<AddOptions> = async (context, typed, options) => {
  const words = wordsIn().setupCommands.integrations
  const { flags: written, rest } = readFlags(typed)
  const catalog = await openCatalog(daemonsFile(context))
  const line = fromUrl(catalog, rest[0])
  const { platform, id, asks } = whichOf(line === null ? rest : [line.platform, ...rest.slice(1)], options)
  const flags = new Map([...(line?.flags ?? []), ...written])
  const yes = options.yes === true
  const fixed: Definition = { id, platform }
  for (const pair of options.set ?? []) putPair(fixed, pair)
  if (options.scope !== undefined) fixed.scope = scopeOf(options.scope)
  if (options.default === true) fixed.default = true

  const module = catalog.platforms.get(platform) ?? null
  const isPlanned = platform !== CHANNEL_PLATFORM && catalog.loaded.platform(platform) !== undefined
  // In a script a platform of a library user is known to the daemon alone, which judges.
  if (module === null && (asks || flags.size > 0 || isPlanned)) throw notBuilt(catalog, platform, isPlanned)
  const daemon = await context.daemon()
  if (asks) await demandFree(daemon, id)

  const asker = askerAt(context)
  const before = module !== null && isPastedBefore(module)
  const opensSecret = module?.setup?.questions.some(({ secret, flag }) => secret && !flags.has(flag))
  if (before && asks && opensSecret && asker.isPerson)
    for (const text of await pasteOf(context, module)) context.note(safeLines(text))
  const called = (flag: string) => (line?.flags.has(flag) && !written.has(flag) ? words.inUrl : `--${flag}`)
  const answered = await answerIntegration(asker, { catalog, module, fixed }, { flags, asks, yes, called })
  if (asks && !(await agreed(context, id, yes))) {
    context.note(words.notKept)
    return 1
  }
  const { definition, secrets, who } = answered
  const agent = defined({ agent: options.agent })
  const added = await linked(daemon, await undisturbed(() => keep(daemon, definition, secrets, agent)))
  const code = await tell(context, who === null ? added : { ...added, who }, words.kept)
  if (context.json) return code
  if (!before) for (const text of added.paste ?? []) await context.print(`  ${safeLines(text)}`)
  const reach = before ? await reachOf(context, module, added, who) : null
  if (reach) await context.print(`  ${words.writeTo({ reach: oneLine(reach) })}`)
  if (asks && options.agent === undefined) context.note(words.noAgent)
  return code
}

/**
 * Waits some seconds for its link. A message that is written before is heard by nothing, and a platform may never repeat it.
 */
async function linked(daemon: Api, added: IntegrationView): Promise<IntegrationView> {
  let now = added
  for (let look = 0; now.link === 'connecting' && look < LINK_LOOKS; look++) {
    await pause(LINK_LOOK_MS)
    const { items } = await daemon.ask('GET /api/integrations')
    const found = items.find(({ id }) => id === added.id)
    if (found === undefined) break
    now = { ...added, ...found }
  }
  return now
}

/** Where a person writes to it. The daemon may not know that yet. */
async function reachOf(
  context: Context,
  { setup }: PlatformModule,
  { id, reach }: IntegrationView,
  who: string | null,
): Promise<string | null> {
  if (reach !== undefined || setup?.url === undefined) return reach ?? null
  const base = await ownAddress(context.folder, daemonsFile(context))
  return setup.url({ id, base, options: {}, who })
}

/** `tgram://TOKEN`: the platform whose module knows the scheme, and the answers in the rest. Null: it is no URL. */
function fromUrl({ loaded }: Catalog, word: string | undefined) {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(word ?? '') ?? []
  if (scheme === '') return null
  const setups = loaded.platformNames.flatMap((platform) => {
    const { setup } = loaded.platform(platform) ?? {}
    return setup?.schemes === undefined ? [] : [{ platform, ...setup, schemes: setup.schemes }]
  })
  const found = setups.findLast(({ schemes }) => Object.hasOwn(schemes, scheme.toLowerCase()))
  if (found === undefined) {
    const known = setups.flatMap(({ schemes }) => Object.keys(schemes)).map((name) => `${name}://`)
    throw usage(`no platform is set up by ${oneLine(scheme)}://`, `those that are: ${known.join(', ')}`)
  }
  const answers = found.schemes[scheme.toLowerCase()]?.(rest) ?? {}
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

function notBuilt({ platforms, problems }: Catalog, platform: string, isPlanned: boolean): SwitchboardError {
  const what = isPlanned
    ? `platform "${oneLine(platform)}" is planned, but not in this version`
    : `there is no platform "${oneLine(platform)}"`
  const names = [...platforms.keys()].join(', ')
  return usage([what, ...problems.map(oneLine)].join('; '), `what there is: ${names}`)
}

/** Checked before a person types a secret for nothing. */
async function demandFree(daemon: Api, id: string): Promise<void> {
  if (!(await isThere(daemon, id))) return
  throw new SwitchboardError('conflict', `integration "${id}" is there already`, {
    hint: 'choose another id with --id ID',
  })
}

async function isThere(daemon: Api, id: string): Promise<boolean> {
  const { items } = await daemon.ask('GET /api/integrations')
  return items.some((one) => one.id === id)
}

async function agreed(context: Context, id: string, yes: boolean): Promise<boolean> {
  if (yes || context.json || !context.terminal.inputIsTty) return true
  const question = wordsIn().setupCommands.integrations.keepIt({ integration: id })
  const answer = await context.terminal.ask(question)
  return answer !== null && /^(y(es)?)?$/i.test(answer.trim())
}

/** Keeps the secrets under free names, then the integration. When one step fails, the secrets are removed again. */
async function keep(
  daemon: Api,
  definition: Definition,
  secrets: SecretAnswers,
  agent: { readonly agent?: string },
): Promise<IntegrationView> {
  const kept = new Map<string, string>()
  const taken = new Set(secrets.size === 0 ? [] : await secretNames(daemon))
  for (const [key, value] of secrets) {
    const name = freeName(`${String(definition.id)}.${key}`, taken)
    taken.add(name)
    kept.set(name, value)
    putAt(definition, key, `secret:${name}`)
  }
  try {
    await putSecrets(daemon, kept)
    return await daemon.ask('POST /api/integrations', { body: { definition, ...agent } })
  } catch (thrown) {
    await takeBack(daemon, [...kept.keys()], String(definition.id), thrown)
    throw thrown
  }
}

/** A missing answer may have been a yes. Then the secrets are in use and stay. */
async function takeBack(daemon: Api, kept: readonly string[], id: string, thrown: unknown): Promise<void> {
  if (kept.length === 0) return
  const refused = thrown instanceof SwitchboardError && thrown.code === 'conflict'
  if (!refused && (await isThere(daemon, id).catch(() => true))) return
  for (const name of kept)
    await daemon.ask('DELETE /api/secrets/{name}', { path: { name } }).catch(() => undefined)
}

async function secretNames(daemon: Api): Promise<readonly string[]> {
  return (await daemon.ask('GET /api/secrets')).items.map(({ name }) => name)
}
