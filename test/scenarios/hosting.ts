// Helpers for the scenarios of hosted channel servers: a configuration with the server `slack`, approved and allowed.
import type { AgentSettings, ChannelsSettings } from '../../src/contract/index.ts'
import { testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import type { RiverOptions } from './river.ts'

export function approved(server: string, over: Partial<ChannelsSettings['approved'][number]> = {}) {
  return { server, pluginSource: null, outboundToolName: 'send_message', rateLimit: null, ...over }
}

export function channels(over: Partial<ChannelsSettings> = {}): ChannelsSettings {
  return {
    enabled: true,
    maxContentChars: 16_000,
    defaultRateLimit: null,
    approved: [approved('slack')],
    ...over,
  }
}

export function hostingAgent(id: string, over: Partial<AgentSettings> = {}): AgentSettings {
  return testAgent(id, [], {
    bindings: [{ plugin: 'test', instance: 'chat', allowedChannelServers: ['slack'] }],
    channels: channels(),
    ...over,
  })
}

/** The agent `demo` gets the messages of `slack` and of the test chat. */
export function hosting(over: Partial<AgentSettings> = {}, more: RiverOptions = {}): RiverOptions {
  return {
    integrations: [testIntegration('chat')],
    mcpServers: [{ name: 'slack', options: {} }],
    agents: [hostingAgent('demo', over)],
    ...more,
  }
}

export const SLACK = 'channel:slack@demo'
