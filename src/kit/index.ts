// What adapter authors share. No platform, no store, no session in here.
export { type BackoffRange, backoffMs } from './backoff.ts'
export { type ChorusPost, postChorus } from './chorus/post.ts'
export {
  type ChorusAttachment,
  type ChorusDelivery,
  type ChorusEvent,
  type ChorusMcpServer,
  jsonValues,
  knownEvent,
  mcpServers,
  type ReadDelivery,
  type ReadEvents,
  readDelivery,
  readEvents,
} from './chorus/wire.ts'
export {
  createGuardedFetch,
  type GuardedFetch,
  type GuardedRequest,
  type GuardedResponse,
  urlRefusal,
} from './guarded-fetch.ts'
export { equalSecrets, hmacKey, signSha256, verifySha256 } from './hmac.ts'
export { createLeaseHold, type LeaseAnswer, type LeaseHold, type LeaseHoldOptions } from './lease-hold.ts'
export { type PassedPositions, visitPassed } from './passed-positions.ts'
export { sentByOtherSite } from './request-origin.ts'
export { createSerial } from './serial.ts'
export { createSharedFolder, isPlainName, type SharedFolder } from './shared-folder.ts'
export { formatSse, formatSseComment, type SseEvent } from './sse.ts'
export { createStreamingFetch, type StreamingFetch, type StreamingFetchOptions } from './streaming-fetch.ts'
export { toolText } from './tool-text.ts'
export { codePointLength, truncate } from './truncate.ts'
export { versionOf } from './version-of.ts'
export { neutraliseChannelTags, type WrappedChannel, wrapChannel } from './wrap-channel.ts'
