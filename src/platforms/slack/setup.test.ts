// Setting Slack up: the options, the manifest, the live trial of the tokens, and doctor's findings about scopes.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createRealClock } from '../../runtime/real-clock.ts'
import { createFakeSlack } from '../../testing/emulate.ts'
import { scopesInUse } from './api/scopes.ts'
import { slackOptions } from './config.ts'
import { openScene } from './fixtures/slack-scene.ts'
import { manifestOf } from './manifest.ts'
import { slackModule } from './module.ts'

const TOKENS = { bot_token: 'env:BOT', app_token: 'env:APP' }
const place = (options: Record<string, unknown>) => ({
  id: 'slack',
  base: 'https://sb.example.com/',
  options,
})

interface Manifest {
  readonly features: Record<string, unknown>
  readonly oauth_config: { readonly scopes: { readonly bot: readonly string[] } }
  readonly settings: {
    readonly socket_mode_enabled: boolean
    readonly interactivity: Record<string, unknown>
    readonly event_subscriptions: { readonly request_url?: string; readonly bot_events: readonly string[] }
  }
}

/** The methods of the Web API that the adapter calls, with the scope that each needs. */
const SCOPE_OF: Readonly<Record<string, readonly string[]>> = {
  'auth.test': [],
  'apps.connections.open': [],
  'chat.postMessage': ['chat:write'],
  'chat.update': ['chat:write'],
  'chat.postEphemeral': ['chat:write'],
  'reactions.add': ['reactions:write'],
  'users.info': ['users:read'],
  'users.conversations': ['channels:read', 'groups:read', 'im:read', 'mpim:read'],
  // For servers without the method above.
  'conversations.list': ['channels:read', 'groups:read', 'im:read', 'mpim:read'],
  'conversations.history': ['channels:history', 'groups:history', 'im:history', 'mpim:history'],
  'conversations.replies': ['channels:history', 'groups:history', 'im:history', 'mpim:history'],
  'conversations.open': ['im:write'],
  'files.info': ['files:read'],
  'files.getUploadURLExternal': ['files:write'],
  'files.completeUploadExternal': ['files:write'],
  'assistant.threads.setStatus': ['chat:write'],
  'assistant.threads.setTitle': ['assistant:write'],
  'assistant.threads.setSuggestedPrompts': ['assistant:write'],
}

describe('the manifest', () => {
  it('[I15.manifest] asks for exactly the scopes of the methods and events in use', () => {
    const folder = new URL('./', import.meta.url)
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
    )
    const text = sources.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n')
    const called = new Set(
      [...text.matchAll(/'((?:[a-z]+\.){1,2}[a-zA-Z]+)'/g)].map((match) => match[1] ?? ''),
    )
    const methods = [...called].filter((name) =>
      /^(auth|apps|chat|reactions|users|conversations|files|assistant)\./.test(name),
    )
    expect(methods.toSorted()).toEqual(Object.keys(SCOPE_OF).toSorted())
    const needed = new Set([
      ...methods.flatMap((name) => SCOPE_OF[name] ?? []),
      'app_mentions:read',
      'reactions:read',
    ])
    expect(scopesInUse({ surface: 'agent' }).toSorted()).toEqual([...needed].toSorted())
  })

  it('[I15.manifest] [S7.slack-socket] is for Socket Mode by default, and has URLs for events where that is chosen', () => {
    const socket = manifestOf(place(slackOptions.parse(TOKENS))) as unknown as Manifest
    expect(socket.settings).toMatchObject({ socket_mode_enabled: true, interactivity: { is_enabled: true } })
    expect(socket.settings.event_subscriptions.request_url).toBeUndefined()
    expect(socket.oauth_config.scopes.bot).not.toContain('commands')
    expect(socket.features).toHaveProperty('agent_view')
    const options = slackOptions.parse({
      bot_token: 'env:BOT',
      mode: 'events',
      signing_secret: 'env:S',
      surface: 'none',
      command: '/swb',
      shortcut: true,
    })
    const events = manifestOf(place(options)) as unknown as Manifest
    const hook = 'https://sb.example.com/hooks/slack'
    expect(events.settings.event_subscriptions.request_url).toBe(hook)
    expect(events.settings.interactivity).toEqual({ is_enabled: true, request_url: hook })
    expect(events.features).toMatchObject({
      slash_commands: [{ command: '/swb', url: hook }],
      shortcuts: [{ type: 'message' }],
    })
    expect(events.features).not.toHaveProperty('agent_view')
    expect(events.oauth_config.scopes.bot).toContain('commands')
    expect(events.oauth_config.scopes.bot).not.toContain('assistant:write')
  })

  it('is printed by the set-up, as JSON that can be pasted', () => {
    const lines = slackModule.setup?.paste?.(place(slackOptions.parse(TOKENS))) ?? []
    const json = lines.slice(lines.indexOf('{')).join('\n')
    expect(JSON.parse(json)).toMatchObject({ settings: { socket_mode_enabled: true } })
  })
})

describe('options', () => {
  it('[S7.slack-socket] Socket Mode is the default, and each mode needs its secret', () => {
    expect(slackOptions.parse(TOKENS)).toMatchObject({ mode: 'socket', api_url: 'https://slack.com/api/' })
    expect(slackOptions.safeParse({ bot_token: 'env:BOT' }).error?.issues[0]?.message).toContain(
      'needs "app_token"',
    )
    expect(
      slackOptions.safeParse({ bot_token: 'env:BOT', mode: 'events' }).error?.issues[0]?.message,
    ).toContain('signing_secret')
    expect(slackOptions.safeParse({ ...TOKENS, command: 'swb' }).success).toBe(false)
  })
})

describe('trying tokens', () => {
  it('says who it is, what is missing, and which token is wrong, and never a token', async () => {
    const fake = await createFakeSlack({ scopes: ['chat:write', 'users:read'] })
    const deps = { clock: createRealClock() }
    const right = { bot_token: fake.botToken, app_token: fake.appToken, api_url: fake.apiUrl }
    const { who } = (await slackModule.setup?.try?.(right, deps)) ?? { who: '' }
    expect(who).toMatch(/^@switchboard in Emulated \(missing scopes: app_mentions:read, channels:history/)
    for (const wrong of [
      { ...right, bot_token: 'xoxb-no' },
      { ...right, app_token: 'xapp-no' },
    ]) {
      const thrown: unknown = await slackModule.setup?.try?.(wrong, deps).catch((error: unknown) => error)
      expect(String(thrown)).toContain('invalid_auth')
      expect(String(thrown)).not.toContain('-no')
    }
    await fake.stop()
  })

  it('[I15.scopes] a running integration names each missing scope and what it costs; all granted is one gate that passes', async () => {
    const scene = await openScene({ scopes: ['chat:write', 'im:history'] })
    await scene.start()
    const gates = scene.adapter.checks?.gates?.() ?? []
    expect(gates.find(({ gate }) => gate === 'scope files:read')).toMatchObject({
      pass: false,
      reason: expect.stringContaining('files that people send cannot be fetched'),
    })
    expect(gates.map(({ gate }) => gate)).not.toContain('scope chat:write')
    await scene.close()
    const whole = await openScene()
    await whole.start()
    expect(whole.adapter.checks?.gates?.()).toMatchObject([{ gate: 'scopes', pass: true }])
    await whole.close()
  })
})
