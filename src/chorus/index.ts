// The entry `switchboard/chorus`: both ends of the Chorus channel protocol, without the gateway.
export { SwitchboardError } from '../contract/index.ts'
export type {
  ChorusAttachment,
  ChorusDelivery,
  ChorusEvent,
  ChorusMcpServer,
  GuardedFetch,
  GuardedRequest,
  GuardedResponse,
} from '../kit/index.ts'
export type { McpConnection } from './connect-mcp.ts'
export { type AgentOptions, type ChorusAgent, createAgent, type Voice } from './create-agent.ts'
export {
  type ChorusService,
  createService,
  type DeliverOptions,
  deliver,
  type ServiceOptions,
} from './deliver.ts'
export type { Handlers, NodeRequest, NodeResponse } from './node-endpoint.ts'
export type { Timers } from './timers.ts'
