// What issue 35 demands: the promises at the edges, by area.
import { EDGES_AGENTS } from './agents.ts'
import { EDGES_APPROVALS } from './approvals.ts'
import { EDGES_CHANNELS } from './channels.ts'
import { EDGES_EMAIL } from './email.ts'
import { EDGES_HEALTH } from './health.ts'
import { EDGES_HISTORY } from './history.ts'
import { EDGES_HTTP } from './http.ts'
import { EDGES_OUTBOUND } from './outbound.ts'
import { EDGES_SERVER } from './server.ts'
import { EDGES_SETUP } from './setup.ts'
import { EDGES_TESTS } from './tests.ts'

export const EDGES = [
  ...EDGES_AGENTS,
  ...EDGES_APPROVALS,
  ...EDGES_CHANNELS,
  ...EDGES_EMAIL,
  ...EDGES_HEALTH,
  ...EDGES_HISTORY,
  ...EDGES_HTTP,
  ...EDGES_OUTBOUND,
  ...EDGES_SERVER,
  ...EDGES_SETUP,
  ...EDGES_TESTS,
]
