// The entry `switchboard/host`: MCP channel servers for another agent runtime, without the gateway.
export type { HostingConfig } from '../config/hosting-settings.ts'
export { type Skip, type SkipKind, SwitchboardError } from '../contract/index.ts'
export { createChannelHost } from './create-channel-host.ts'
export type {
  AskOrder,
  AskOutcome,
  ChannelHost,
  ChannelHostOptions,
  HostMessage,
  HostRefusal,
  HostVerdict,
  ListedServer,
  OpenAsk,
  SendOrder,
  SendResult,
  ServerStatus,
} from './types.ts'
