// Every requirement as data: SPEC by section, the seeds' test lists, the demands of the issues. Tests cite the ids in
// square brackets in their names. requirements.test.ts checks both sides against each other.
import { ACP } from './requirements/acp.ts'
import { CLAUDE_CODE, PROCESSES } from './requirements/agent-processes.ts'
import { AGENTS, CHANNEL } from './requirements/agents.ts'
import { CHANNEL_SERVERS, HOSTING } from './requirements/channel-servers.ts'
import { CHORUS } from './requirements/chorus.ts'
import { CLOSED_DOORS } from './requirements/closed-access.ts'
import { CLUSTER } from './requirements/cluster.ts'
import { CODE_BASE } from './requirements/code-base.ts'
import { COMPLETENESS } from './requirements/completeness.ts'
import { CONFIGURATION } from './requirements/configuration.ts'
import { CONSOLE_PAGES } from './requirements/console.ts'
import { DISCORD } from './requirements/discord.ts'
import { DURABILITY } from './requirements/durability.ts'
import { EDGES } from './requirements/edges/index.ts'
import { EMAIL } from './requirements/email.ts'
import { CHAT_PAGE, PACKAGES, PHONE, SMALL_THINGS } from './requirements/first-page.ts'
import { FIRST_RUN, LIFE, WIZARD } from './requirements/first-run.ts'
import { GROWTH } from './requirements/growth.ts'
import { HOOKS } from './requirements/hooks.ts'
import { HOSTS } from './requirements/hosts.ts'
import { HTTP_AGENT } from './requirements/http.ts'
import { INSTANCES } from './requirements/instances.ts'
import { PEOPLE, RIVER, SENDING_TRUTH, TELEGRAM } from './requirements/issues.ts'
import { GROUP_CONTEXT, LLM } from './requirements/llm.ts'
import { MARKDOWN } from './requirements/markdown.ts'
import { MODULES } from './requirements/modules.ts'
import { ONE_DOOR } from './requirements/one-outlet.ts'
import { ACCESS, APPROVALS } from './requirements/people.ts'
import { EACH_PLATFORM, EVERY_PLATFORM } from './requirements/platforms.ts'
import type { Requirement } from './requirements/row.ts'
import {
  CHORUS_LIST,
  GATE_AND_PARSE,
  NOTIFY_LIST,
  RELAY_AND_TOOLS,
  SEND_LIST,
  WRAP_AND_SESSION,
} from './requirements/seed-lists.ts'
import { SEED_REPAIRS } from './requirements/seed-repairs.ts'
import { NOTIFY, SENDING } from './requirements/sending.ts'
import { SLACK } from './requirements/slack.ts'
import { MACHINES, STORE } from './requirements/store.ts'
import { STREAMS } from './requirements/streams.ts'
import { BAD_INPUT, COMMAND_LINE, CONSOLE, HTTP, SPEED } from './requirements/surface.ts'
import { TAKEOVER } from './requirements/takeover.ts'
import { TRUE_TESTS } from './requirements/true-tests.ts'
import { TRUTH } from './requirements/truth.ts'
import { IMESSAGE, WHATSAPP } from './requirements/whatsapp-imessage.ts'
import { WHOLE_WAY } from './requirements/whole-way.ts'
import { SESSIONS, WAY, WORDS } from './requirements/words-and-way.ts'

export const REQUIREMENTS: readonly Requirement[] = [
  ...WORDS,
  ...WAY,
  ...CONFIGURATION,
  ...ACCESS,
  ...SESSIONS,
  ...AGENTS,
  ...CHANNEL,
  ...PROCESSES,
  ...ACP,
  ...CLAUDE_CODE,
  ...EVERY_PLATFORM,
  ...EACH_PLATFORM,
  ...CHORUS,
  ...CHANNEL_SERVERS,
  ...HOSTING,
  ...APPROVALS,
  ...SENDING,
  ...NOTIFY,
  ...STORE,
  ...MACHINES,
  ...HTTP,
  ...COMMAND_LINE,
  ...CONSOLE,
  ...CONSOLE_PAGES,
  ...BAD_INPUT,
  ...SPEED,
  ...GROWTH,
  ...SLACK,
  ...DISCORD,
  ...EMAIL,
  ...GATE_AND_PARSE,
  ...WRAP_AND_SESSION,
  ...RELAY_AND_TOOLS,
  ...CHORUS_LIST,
  ...NOTIFY_LIST,
  ...SEND_LIST,
  ...RIVER,
  ...PEOPLE,
  ...SENDING_TRUTH,
  ...TELEGRAM,
  ...CLUSTER,
  ...CODE_BASE,
  ...MODULES,
  ...MARKDOWN,
  ...ONE_DOOR,
  ...TRUE_TESTS,
  ...STREAMS,
  ...DURABILITY,
  ...CLOSED_DOORS,
  ...HOSTS,
  ...TRUTH,
  ...SEED_REPAIRS,
  ...INSTANCES,
  ...HOOKS,
  ...HTTP_AGENT,
  ...FIRST_RUN,
  ...WIZARD,
  ...LIFE,
  ...SMALL_THINGS,
  ...CHAT_PAGE,
  ...PHONE,
  ...PACKAGES,
  ...GROUP_CONTEXT,
  ...LLM,
  ...COMPLETENESS,
  ...WHATSAPP,
  ...IMESSAGE,
  ...TAKEOVER,
  ...WHOLE_WAY,
  ...EDGES,
]
