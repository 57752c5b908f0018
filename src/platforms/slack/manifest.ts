// The app manifest that the set-up prints. At api.slack.com/apps it makes an app with exactly the used features.
import type { Options } from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import { scopesInUse } from './api/scopes.ts'

const EVENTS = [
  'app_mention',
  'app_uninstalled',
  'message.channels',
  'message.groups',
  'message.im',
  'message.mpim',
  'reaction_added',
  'tokens_revoked',
]
const AGENT_EVENTS = ['agent_session_stopped', 'app_context_changed', 'app_home_opened']
const ASSISTANT_EVENTS = ['assistant_thread_context_changed', 'assistant_thread_started']

export interface ManifestPlace {
  readonly id: string
  /** The address of this server, for mode events. */
  readonly base: string
  readonly options: Options
}

export function manifestOf({ id, base, options }: ManifestPlace): Record<string, unknown> {
  const words = wordsIn().platforms.slack
  const socket = options.mode !== 'events'
  const hook = `${base.replace(/(?<!\/)\/+$/, '')}/hooks/${encodeURIComponent(id)}`
  const url = socket ? {} : { request_url: hook }
  const surface = options.surface ?? 'agent'
  const events = [
    ...EVENTS,
    ...(surface === 'agent' ? AGENT_EVENTS : surface === 'assistant' ? ASSISTANT_EVENTS : []),
  ]
  return {
    _metadata: { major_version: 2 },
    display_information: { name: 'Switchboard', description: words.app },
    features: {
      bot_user: { display_name: 'switchboard', always_online: true },
      app_home: {
        home_tab_enabled: false,
        messages_tab_enabled: true,
        messages_tab_read_only_enabled: false,
      },
      ...surfaceFeature(surface, options.suggested_prompts),
      ...(options.command === undefined
        ? {}
        : {
            slash_commands: [
              {
                command: options.command,
                description: words.command,
                usage_hint: words.commandHint,
                should_escape: true,
                ...(socket ? {} : { url: hook }),
              },
            ],
          }),
      ...(options.shortcut === true
        ? {
            shortcuts: [
              {
                type: 'message',
                name: words.shortcut,
                callback_id: 'switchboard_message',
                description: words.shortcutDescription,
              },
            ],
          }
        : {}),
    },
    oauth_config: { scopes: { bot: [...scopesInUse({ ...options, surface })] } },
    settings: {
      socket_mode_enabled: socket,
      org_deploy_enabled: false,
      token_rotation_enabled: false,
      interactivity: { is_enabled: true, ...url },
      event_subscriptions: { ...url, bot_events: events.toSorted() },
    },
  }
}

function surfaceFeature(surface: unknown, prompts: unknown): Record<string, unknown> {
  const description = wordsIn().platforms.slack.app
  const suggested = Array.isArray(prompts) && prompts.length > 0 ? { suggested_prompts: prompts } : {}
  if (surface === 'agent') return { agent_view: { agent_description: description, ...suggested } }
  return surface === 'assistant'
    ? { assistant_view: { assistant_description: description, ...suggested } }
    : {}
}

/** Returns the steps as lines, and the manifest. */
export function pasteLines(place: ManifestPlace): readonly string[] {
  const socket = place.options.mode !== 'events'
  return [
    '1. At https://api.slack.com/apps choose "Create New App", "From an app manifest", and paste what follows.',
    '2. Install it to the workspace: "OAuth & Permissions" shows the bot token (xoxb-), for bot_token.',
    socket
      ? '3. "Basic Information", "App-Level Tokens": make one with connections:write (xapp-), for app_token.'
      : '3. "Basic Information" shows the signing secret, for signing_secret.',
    '4. Invite the bot to its channels: /invite @switchboard',
    '',
    ...JSON.stringify(manifestOf(place), null, 2).split('\n'),
  ]
}
