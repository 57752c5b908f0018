// `switchboard agents`: lists the configured agents, and adds one.
import { dirname } from 'node:path'
import { stringify } from 'yaml'
import { suggestion } from '../../../config/schema/nearest.ts'
import { isSecretReference } from '../../../config/secrets/secret-reference.ts'
import {
  type ConnectorModule,
  type StatusReport,
  SwitchboardError,
  withoutNulls,
} from '../../../contract/index.ts'
import { type AnsweredAgent, answerAgent, secretNames, writtenConnector } from '../../../setup/agent.ts'
import { openCatalog } from '../../../setup/catalog.ts'
import { type Definition, ID, jsonSchemaOf, readAt } from '../../../setup/definition.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Api } from '../../api.ts'
import { askerAt } from '../../asker.ts'
import type { Context, Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { readFlags, typedFlags } from '../../flags.ts'
import { putSecrets } from '../../keep-secrets.ts'
import { printList } from '../../list.ts'
import type { Column } from '../../output/table.ts'
import { oneLine } from '../../output/text.ts'
import { addToFile, refersTo } from './agents-change.ts'

type AgentLine = StatusReport['agents'][number]

export const listAgents: Run = (context) =>
  context.reading(async (api) => {
    const columns: readonly Column<AgentLine>[] = [
      { title: 'ID', value: (row) => row.id },
      { title: 'CONNECTOR', value: (row) => row.connector },
      { title: 'STATE', value: (row) => row.state },
      { title: 'QUEUED', value: (row) => String(row.queued) },
    ]
    const { agents } = await api.ask('GET /api/status')
    await printList(context, agents, columns, { empty: wordsIn().commandLine.empty.agents })
    return 0
  })

export interface AddAgentOptions {
  readonly connector?: string
  /** A connection string, or a URL that takes a POST: the first answer of the connector of that name. */
  readonly chorus?: string
  readonly http?: string
  /** Puts the lines into the file instead of printing them. */
  readonly write?: boolean
  readonly bind?: string
  readonly allowPrivate?: boolean
}

/** Every other option that the help names answers a question of some connector. */
const OWN = ['connector', 'chorus', 'http', 'write', 'bind', 'allowPrivate']

/**
 * Asks what the connector asks, tries the agent, and prints the lines for the file. With `--write` it also keeps the secrets,
 * encrypted, and writes the lines. Without it nothing is kept: the next run would void a secret that was made here.
 */
export const addAgent: Run<AddAgentOptions> = async (context, words, options) => {
  const { flags, rest } = readFlags(words)
  const [id = '', more] = rest
  if (more !== undefined) throw usage(`"${oneLine(more)}" is one word too many`)
  if (!ID.test(id)) throw usage(`"${id}" is not an id for an agent`)
  const { type, first } = wayOf(options)
  const [plugin, instance] = bound(options.bind)
  const module = await connectorOf(context, type)
  const answers = new Map([...typedFlags(options, OWN), ...flags])
  const names = secretNames(id, module, answers)
  const write = options.write === true
  const wish = { id, names, write }
  const daemon = names.size === 0 ? null : await (write ? context.daemon() : runningDaemon(context))
  if (daemon) await refuseTaken(context, daemon, wish)
  const file = context.configFile()
  const answered = await answerAgent(askerAt(context), module, {
    by: 'command',
    ...firstAnswer(module, first, answers),
    flags: answers,
    yes: first !== undefined,
    folder: file === null ? context.terminal.cwd() : dirname(file),
    fixed: options.allowPrivate && takesPrivate(module) ? { allow_private: true } : {},
    keeps: write,
  })
  const connector = writtenConnector(module, answered, (key) => `secret:${names.get(key)}`)
  const agent = { id, connector, inbound_bindings: [{ plugin, instance }] }
  return put(context, daemon, { agent, plugin, instance, module, names, answered, options })
}

function wayOf({ connector, http, chorus }: AddAgentOptions): { type: string; first: string | undefined } {
  const ways = Object.entries({ http, chorus, connector }).flatMap(([name, said]) =>
    said === undefined ? [] : [{ name, said }],
  )
  const [way] = ways
  if (ways.length > 1)
    throw usage('--connector, --chorus and --http exclude each other', 'an agent is reached in one way')
  if (way === undefined)
    throw usage(
      'say how the agent is reached',
      'switchboard agents add ID --http URL, --chorus URL or --connector TYPE',
    )
  return way.said === connector ? { type: connector, first: undefined } : { type: way.name, first: way.said }
}

async function connectorOf(context: Context, type: string): Promise<ConnectorModule> {
  const { connectors } = await openCatalog(context.configFile())
  const module = connectors.get(type)
  if (module !== undefined) return module
  const hint = suggestion(type, [...connectors.keys()])
  throw usage(`there is no connector "${oneLine(type)}" in this version`, hint)
}

/** The value of `--http` or `--chorus` answers the first question. A secret there is expected, so no warning follows. */
function firstAnswer({ setup }: ConnectorModule, said: string | undefined, answers: Map<string, string>) {
  const [question] = setup?.questions ?? []
  if (said === undefined || question === undefined) return {}
  if (question.secret && !isSecretReference(said)) return { known: new Map([[question.key, said]]) }
  answers.set(question.flag, said)
  return {}
}

const runningDaemon = (context: Context) => context.daemon().catch(() => null)

function takesPrivate({ options }: ConnectorModule): boolean {
  return readAt(jsonSchemaOf(options), 'properties.allow_private') !== undefined
}

/** Adding an agent must not change one that exists, nor its secret. */
async function refuseTaken(
  context: Context,
  daemon: Api,
  { id, names, write }: { id: string; names: ReadonlyMap<string, string>; write: boolean },
): Promise<void> {
  const own = [...names.values()]
  const { agents } = await daemon.ask('GET /api/status')
  if (agents.some((agent) => agent.id === id))
    throw new SwitchboardError('conflict', `there is an agent "${id}" already`, {
      hint: `another secret for it: switchboard secrets set ${own[0]}`,
    })
  for (const { name } of (await daemon.ask('GET /api/secrets')).items) {
    if (!own.includes(name)) continue
    // An interrupted run left it behind: nothing refers to it yet.
    if (write && !refersTo(context, name)) continue
    const finish = write ? '' : 'finish with --write, '
    throw new SwitchboardError('conflict', `a secret is kept as secret:${name} already`, {
      hint: `${finish}replace it with: switchboard secrets set ${name}, or forget it: switchboard secrets remove ${name}`,
    })
  }
}

interface NewAgent {
  readonly agent: Readonly<Record<string, unknown>> & { readonly id: string; readonly connector: Definition }
  readonly plugin: string
  readonly instance: string
  readonly module: ConnectorModule
  /** The names of its secrets, by key. */
  readonly names: ReadonlyMap<string, string>
  readonly answered: AnsweredAgent
  readonly options: AddAgentOptions
}

/** Prints the lines, or writes them. Secrets are kept before the file refers to them. */
async function put(context: Context, daemon: Api | null, one: NewAgent): Promise<number> {
  const { agent, instance, names, answered, options } = one
  const { secrets, made, who } = answered
  const nameOf = (key: string) => names.get(key) ?? key
  if (!options.write) return printLines(context, daemon, one)
  const kept = new Map([...secrets].map(([key, value]) => [nameOf(key), value]))
  // This is the only place where they are shown: `kate_signing` is the `signing_secret` of `kate`.
  const shownOnce = [...made].map((key) => [
    `${nameOf(key).slice(agent.id.length + 1)}_secret`,
    secrets.get(key) ?? '',
  ])
  const code = await addToFile(context, agent, instance, {
    keep: async () => (daemon === null ? undefined : putSecrets(daemon, kept)),
    jsonFields: { ...Object.fromEntries(shownOnce), ...withoutNulls({ who }) },
  })
  if (code === 0 && !context.json) await tellSecrets(context, one)
  return code
}

/** What `--write` would write, and which secrets it would make and keep. */
async function printLines(context: Context, daemon: Api | null, one: NewAgent): Promise<number> {
  const { agent, names, answered, options } = one
  const { secrets, made, who } = answered
  const kept = [...secrets.keys()].map((key) => ({ name: names.get(key) ?? key, isMade: made.has(key) }))
  const yaml =
    options.chorus === undefined || daemon === null
      ? stringify({ agents: [agent] }).trimEnd()
      : await withPlace(context, daemon, one)
  if (context.json) {
    const [secret = null] = kept.map(({ name }) => name)
    await context.printJson({ ok: true, agent: agent.id, secret, yaml, ...withoutNulls({ who }) })
    return 0
  }
  await context.print(yaml)
  const words = wordsIn().setupCommands.agents
  const does = kept.map(({ name, isMade }) => (isMade ? words.makesSecret : words.keepsSecret)({ name }))
  const byHand = words.byHand({ names: kept.map(({ name }) => name) })
  context.note(context.paint.dim([words.notWritten, words.addWrite({ does }), byHand].join('\n')))
  return 0
}

/** With the chat page when there is none: a person who starts with a connection string usually has no file. */
async function withPlace(
  context: Context,
  daemon: Api,
  { agent, plugin, instance }: NewAgent,
): Promise<string> {
  const { integrations, config } = await daemon.ask('GET /api/status')
  // The web chat of the embedded default disappears as soon as there is a file.
  const absent = config.file === null || !integrations.some((one) => one.id === instance)
  if (absent && plugin !== 'web')
    context.note(
      context.paint.yellow(wordsIn().setupCommands.agents.noIntegration({ integration: instance })),
    )
  const keys = Object.entries(agent.connector).map(
    ([key, value]) => `${key}: ${String(value).includes(':') ? JSON.stringify(value) : value}`,
  )
  return [
    ...(absent && plugin === 'web' ? ['integrations:', `  - { id: ${instance}, platform: web }`] : []),
    'agents:',
    `  - id: ${agent.id}`,
    `    connector: { ${keys.join(', ')} }`,
    '    inbound_bindings:',
    `      - { plugin: ${plugin}, instance: ${instance} }`,
  ].join('\n')
}

async function tellSecrets(context: Context, { module, names, answered }: NewAgent): Promise<void> {
  const words = wordsIn().setupCommands.agents
  for (const { key, ask } of module.setup?.questions ?? []) {
    const value = answered.secrets.get(key)
    const about = { name: names.get(key) ?? key, ask: oneLine(ask) }
    if (value === undefined) continue
    if (answered.made.has(key) && !answered.shown.has(key))
      await context.print(words.made({ ...about, secret: value }))
    else context.note(words.kept(about))
  }
}

function bound(text = 'web:web'): readonly [string, string] {
  const [plugin, instance] = text.split(':')
  if (plugin && instance) return [plugin, instance]
  throw usage('--bind takes PLATFORM:INTEGRATION', 'for example: --bind telegram:kate_tg')
}
