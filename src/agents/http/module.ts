// The module of the connector `http`: what Switchboard knows before it runs one.
import { randomBytes } from 'node:crypto'
import type { AgentSettings, ConnectorModule, GateView } from '../../contract/index.ts'
import { httpOptions } from './config.ts'

export const httpModule: ConnectorModule = {
  name: 'http',
  options: httpOptions,
  docs: 'docs/agents/http.md',
  title: 'My own HTTP agent',
  callsBack: true,
  setup: {
    questions: [
      { key: 'url', flag: 'url', ask: 'the URL that turns are posted to' },
      {
        key: 'mode',
        flag: 'mode',
        ask: 'answer (in the response) or later',
        default: 'answer',
        optional: () => true,
      },
      {
        key: 'secret',
        flag: 'secret',
        ask: 'secret that the agent verifies with (whsec_…)',
        secret: true,
        called: 'signing',
        fresh: () => `whsec_${randomBytes(32).toString('base64')}`,
      },
    ],
    complete: ({ url, allow_private }) =>
      allow_private === undefined && isOwnAddress(String(url)) ? { allow_private: true } : {},
    try: async (options, deps) => (await import('./try-agent.ts')).tryAgent(options, deps),
  },
  doctor,
  create: async (deps) => (await import('./index.ts')).createHttpAgent(deps),
}

const PLAIN = {
  flagged: true,
  open: 'medium',
  reason: 'messages and the tokens to answer them go over the network unencrypted',
} as const

/** Judges the configuration only. Values behind references are unknown here. */
function doctor(agent: AgentSettings, server: { readonly publicUrl: string | null }): readonly GateView[] {
  const parsed = httpOptions.safeParse(agent.connector.options)
  if (!parsed.success) return []
  const { url, secret, allow_private: allowPrivate } = parsed.data
  const key = (name: string) => `${agent.origin}.connector.${name}`
  const written = URL.canParse(url) && /^https?:/.test(url) ? new URL(url) : null
  const closed = written?.protocol === 'http:' && !allowPrivate
  const near = written !== null && isNear(written.hostname)
  const unreachable = !near && server.publicUrl === null
  return [
    closed
      ? {
          gate: 'agent URL',
          pass: false,
          reason: 'plain http is refused without allow_private',
          key: key('allow_private'),
        }
      : {
          gate: 'agent URL',
          pass: true,
          reason: written === null ? 'kept as a reference' : 'may be called',
          key: key('url'),
          ...(written?.protocol === 'http:' && !near ? PLAIN : {}),
        },
    secret === undefined
      ? {
          gate: 'signature',
          pass: true,
          flagged: true,
          reason: 'turns are posted unsigned: the agent cannot tell who posts',
          key: key('secret'),
          open: 'low',
        }
      : { gate: 'signature', pass: true, reason: 'signed (Standard Webhooks)', key: key('secret') },
    unreachable
      ? {
          gate: 'reply_url',
          pass: true,
          flagged: true,
          reason:
            'it begins with the listener’s own address: an agent elsewhere cannot reply later, nor use tools',
          key: 'server.public_url',
        }
      : {
          gate: 'reply_url',
          pass: true,
          reason: server.publicUrl === null ? 'the agent is on this machine' : 'behind the public URL',
          key: 'server.public_url',
        },
  ]
}

function isNear(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host)
}

// Whether a URL names this machine or network, as far as its text shows. Such an agent needs `allow_private`.

const OWN =
  /^(localhost|127\..*|10\..*|192\.168\..*|172\.(1[6-9]|2\d|3[01])\..*|\[(::1|f[cd].*)\]|.*\.(local|internal|localhost))$/

function isOwnAddress(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { hostname, protocol } = new URL(url)
  return OWN.test(hostname) || (protocol === 'http:' && !hostname.includes('.'))
}
