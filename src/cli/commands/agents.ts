// `switchboard agents`: what is configured, and the lines that add one.
import { suggestion } from '../../config/nearest.ts'
import { defined, type StatusReport, SwitchboardError, withoutNulls } from '../../contract/index.ts'
import type { Context, Run } from '../context.ts'
import type { DaemonClient } from '../daemon-client.ts'
import { usage } from '../failure.ts'
import { printList } from '../list.ts'
import type { Column } from '../output/table.ts'
import { oneLine } from '../output/text.ts'

type AgentLine = StatusReport['agents'][number]

export const listAgents: Run = (context) =>
  context.reading(async (reader) => {
    const columns: readonly Column<AgentLine>[] = [
      { title: 'ID', value: (row) => row.id },
      { title: 'CONNECTOR', value: (row) => row.connector },
      { title: 'ATTACHED', value: (row) => (row.attached ? 'yes' : 'no') },
      { title: 'QUEUED', value: (row) => String(row.queued) },
    ]
    const { agents } = await reader.status()
    await printList(context, agents, columns, { empty: 'No agents are configured.' })
    return 0
  })

export interface AddAgentOptions {
  readonly chorus?: string
  /** The URL of an agent that takes a JSON POST. */
  readonly http?: string
  readonly mode?: string
  readonly secretFile?: string
  readonly connector?: string
  readonly provider?: string
  readonly model?: string
  readonly baseUrl?: string
  readonly apiKeyFile?: string
  /** Puts the lines into the file instead of printing them. */
  readonly write?: boolean
  readonly bind?: string
  readonly allowPrivate?: boolean
  /** claude-code, acp: the program, and the folder that it works in. */
  readonly command?: string
  readonly cwd?: string
}

/** Keeps the connection string encrypted, and prints the lines for the configuration or puts them there. */
export const addAgent: Run<AddAgentOptions> = async (context, [id = ''], options) => {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(id)) throw usage(`"${id}" is not an id for an agent`)
  const ways = [options.connector, options.chorus, options.http].filter((one) => one !== undefined)
  if (ways.length > 1)
    throw usage('--connector, --chorus and --http exclude each other', 'an agent is reached in one way')
  if (options.connector === 'llm') return addModel(context, id, options)
  refuseModelFlags(options)
  if (options.http !== undefined) return addHttp(context, id, options.http, options)
  if (options.connector !== undefined)
    return addConnected(context, id, { ...options, connector: options.connector })
  if (options.chorus === undefined) {
    throw usage(
      'say how the agent is reached',
      'switchboard agents add ID --http URL, --chorus URL, --connector llm, or --connector channel',
    )
  }
  const url = options.chorus
  // It is a secret: what is wrong with it is said without repeating it.
  if (!/^https?:\/\/\S+$/.test(url) || !URL.canParse(url))
    throw usage('--chorus does not hold a connection string', 'it is a URL: https://…')
  const [plugin, instance] = bound(options.bind)
  const secret = `${id}_connection_string`
  const daemon = await context.daemon()
  await refuseTaken(context, { daemon, id, secret, write: options.write === true })
  const keep = async () =>
    void (await daemon.call('PUT', `/api/secrets/${encodeURIComponent(secret)}`, { body: { value: url } }))
  if (options.write) {
    const open = options.allowPrivate ? { allow_private: true } : {}
    const agent = {
      id,
      connector: { type: 'chorus', url: `secret:${secret}`, ...open },
      inbound_bindings: [{ plugin, instance }],
    }
    const { addWritten } = await import('./agents-change.ts')
    return addWritten(context, agent, { instance, first: keep })
  }
  await keep()
  const { integrations, config } = await daemon.call<StatusReport>('GET', '/api/status')
  // The embedded default has a web chat, but it is gone as soon as there is a file.
  const absent = config.file === null || !integrations.some((one) => one.id === instance)
  const yaml = [
    ...(absent && plugin === 'web' ? ['integrations:', `  - { id: ${instance}, platform: web }`] : []),
    'agents:',
    `  - id: ${id}`,
    `    connector: { type: chorus, url: "secret:${secret}"${options.allowPrivate ? ', allow_private: true' : ''} }`,
    '    inbound_bindings:',
    `      - { plugin: ${plugin}, instance: ${instance} }`,
  ].join('\n')
  if (context.json) {
    await context.printJson({ ok: true, agent: id, secret, yaml })
    return 0
  }
  await context.print(yaml)
  if (absent && plugin !== 'web')
    context.note(
      context.paint.yellow(`there is no integration "${instance}" yet: nothing arrives until there is`),
    )
  context.note(
    context.paint.dim(`the connection string is kept as secret:${secret}; put the lines above into`),
  )
  context.note(
    context.paint.dim(
      'your switchboard.yaml (keys that are there already stay one). It is read again when it changes',
    ),
  )
  return 0
}

/** A running agent must not be led elsewhere by a command that says "add". */
async function refuseTaken(
  context: Context,
  wish: {
    readonly daemon: DaemonClient
    readonly id: string
    readonly secret: string
    readonly write: boolean
  },
): Promise<void> {
  const { daemon, id, secret, write } = wish
  const { agents } = await daemon.call<Pick<StatusReport, 'agents'>>('GET', '/api/status')
  if (agents.some((agent) => agent.id === id))
    throw new SwitchboardError('conflict', `there is an agent "${id}" already`, {
      hint: `another connection string for it: switchboard secrets set ${secret}`,
    })
  for await (const { name } of daemon.list<{ readonly name: string }>('/api/secrets', {}, null)) {
    if (name !== secret) continue
    // The same command without --write kept it: nothing refers to it yet.
    if (write && !(await import('./agents-change.ts')).fileNames(context, secret)) return
    const finish = write ? '' : 'finish with --write, '
    throw new SwitchboardError('conflict', `a secret is kept as secret:${secret} already`, {
      hint: `${finish}replace it with: switchboard secrets set ${secret}, or forget it: switchboard secrets remove ${secret}`,
    })
  }
}

/** Tried live first; its signing secret is kept encrypted, and shown this once. */
async function addHttp(context: Context, id: string, url: string, options: AddAgentOptions): Promise<number> {
  const { tryHttpAgent, wishOf } = await import('../http-agent.ts')
  const wish = wishOf(url, options)
  const secret = `${id}_signing`
  const daemon = await context.daemon()
  await refuseTaken(context, { daemon, id, secret, write: options.write === true })
  const tried = await tryHttpAgent(context, wish, `secret:${secret}`)
  return addTried(context, daemon, {
    ...{ id, options, secret, connector: tried.connector, value: tried.secret },
    told: { ...(tried.known ? {} : { signing_secret: tried.secret }), who: tried.who },
    shown: tried.known
      ? null
      : `The secret that its turns are signed with, shown this once (kept as secret:${secret}):\n  ${tried.secret}`,
  })
}

/** A model behind an API: the key is tried with one token, and kept encrypted. */
async function addModel(context: Context, id: string, options: AddAgentOptions): Promise<number> {
  const { tryLlmAgent } = await import('../llm-agent.ts')
  const secret = `${id}_api_key`
  const daemon = await context.daemon()
  await refuseTaken(context, { daemon, id, secret, write: options.write === true })
  const { connector, key, who } = await tryLlmAgent(context, options, secret)
  const shown = key === null ? null : `The API key is kept, encrypted, as secret:${secret}`
  return addTried(context, daemon, { id, options, secret, connector, value: key, told: { who }, shown })
}

const MODEL_FLAGS = {
  provider: '--provider',
  model: '--model',
  baseUrl: '--base-url',
  apiKeyFile: '--api-key-file',
}

function refuseModelFlags(options: AddAgentOptions): void {
  for (const [key, flag] of Object.entries(MODEL_FLAGS))
    if (options[key as keyof typeof MODEL_FLAGS] !== undefined)
      throw usage(`${flag} is for --connector llm`, 'switchboard agents add ID --connector llm …')
}

interface TriedAgent {
  readonly id: string
  readonly options: AddAgentOptions
  readonly connector: Readonly<Record<string, unknown>>
  /** The name of what is kept encrypted, and its value; null: there is nothing to keep. */
  readonly secret: string
  readonly value: string | null
  /** More for `--json`. */
  readonly told: Readonly<Record<string, string>>
  /** More for people. */
  readonly shown: string | null
}

/** The secret is kept before the file speaks of it. */
async function addTried(context: Context, daemon: DaemonClient, tried: TriedAgent): Promise<number> {
  const { id, options, connector, secret, value, told } = tried
  const [plugin, instance] = bound(options.bind)
  const keep = async () => {
    if (value === null) return
    await daemon.call('PUT', `/api/secrets/${encodeURIComponent(secret)}`, { body: { value } })
  }
  const shown = async () => void (tried.shown === null ? null : await context.print(tried.shown))
  const agent = { id, connector, inbound_bindings: [{ plugin, instance }] }
  if (options.write) {
    const { addWritten } = await import('./agents-change.ts')
    const code = await addWritten(context, agent, { instance, first: keep, told })
    if (code === 0 && !context.json) await shown()
    return code
  }
  await keep()
  const { stringify } = await import('yaml')
  const yaml = stringify({ agents: [agent] }).trimEnd()
  if (context.json) {
    await context.printJson({ ok: true, agent: id, secret: value === null ? null : secret, yaml, ...told })
    return 0
  }
  await context.print(yaml)
  await shown()
  context.note(
    context.paint.dim(
      'put the lines above into your switchboard.yaml (below an agents: that is there already)',
    ),
  )
  return 0
}

/** A connector that needs no secret of its own: a program is tried first, other keys are set with `agents set`. */
async function addConnected(
  context: Context,
  id: string,
  options: AddAgentOptions & { readonly connector: string },
): Promise<number> {
  const [plugin, instance] = bound(options.bind)
  const { connectorNames } = await import('../configuration.ts')
  const names = await connectorNames(context.configFile())
  if (!names.includes(options.connector))
    throw usage(
      `there is no connector "${oneLine(options.connector)}" in this version`,
      suggestion(options.connector, names),
    )
  const { connectorLines } = await import('../try-connector.ts')
  const { command, cwd } = options
  const { connector, who } = await connectorLines(context, options.connector, defined({ command, cwd }))
  const agent = { id, connector, inbound_bindings: [{ plugin, instance }] }
  const told = withoutNulls({ who })
  if (options.write) {
    const { addWritten } = await import('./agents-change.ts')
    return addWritten(context, agent, { instance, told })
  }
  const { stringify } = await import('yaml')
  const yaml = stringify({ agents: [agent] }).trimEnd()
  if (context.json) await context.printJson({ ok: true, agent: id, secret: null, yaml, ...told })
  else {
    await context.print(yaml)
    context.note(
      context.paint.dim(
        'put these lines into your switchboard.yaml (below an agents: that is there already), or add --write',
      ),
    )
  }
  return 0
}

function bound(text = 'web:web'): readonly [string, string] {
  const [plugin, instance] = text.split(':')
  if (plugin && instance) return [plugin, instance]
  throw usage('--bind takes PLATFORM:INTEGRATION', 'for example: --bind telegram:kate_tg')
}
