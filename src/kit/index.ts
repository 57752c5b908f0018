// What adapter authors share. No platform, no store, no session in here.
export { type AskedOnce, askOnce } from './ask-once.ts'
export { backoffMs } from './backoff.ts'
export { type AnewStanding, anewStanding, askWhetherAnew, maybeAgainWords } from './begin-anew.ts'
export { bindingContext } from './binding-context.ts'
export { createChatPace } from './chat-pace.ts'
export { postChorus } from './chorus/post.ts'
export {
  type ChorusAttachment,
  type ChorusDelivery,
  type ChorusEvent,
  type ChorusMcpServer,
  jsonValues,
  knownEvent,
  mcpServers,
  readDelivery,
  readEvents,
} from './chorus/wire.ts'

export { contextBlock } from './context-lines.ts'

export { safeFileName, safeMime } from './file-names.ts'
export { createFileShelf, type FetchedQuota, type FileShelf } from './file-shelf.ts'

export {
  createGuardedFetch,
  type GuardedFetch,
  type GuardedRequest,
  type GuardedResponse,
  urlRefusal,
} from './guarded-fetch.ts'
export { handOverError, isGatewayFault } from './hand-over-error.ts'
export { equalSecrets, hmacKey, signSha256, verifySha256 } from './hmac.ts'
export { inputText, isNestedDeeper } from './input-text.ts'
export { createJwtVerifier, type JwtVerdict } from './jwt.ts'
export { createLeaseHold } from './lease-hold.ts'
export { createLeasedLink, type LinkState } from './leased-link.ts'
export { filesOf } from './message-files.ts'
export { visitPassed } from './passed-positions.ts'
export { refusalWord } from './refusal-word.ts'
export { sentByOtherSite } from './request-origin.ts'
export { retryAfterMs } from './retry-after.ts'
export { createSharedFolder } from './shared-folder.ts'
export { formatSse, formatSseComment } from './sse.ts'
export {
  ed25519PublicKey,
  type StandardKey,
  signStandard,
  standardKey,
  verifyStandard,
} from './standard-webhooks.ts'
export { createStreamingFetch, type StreamingFetch } from './streaming-fetch.ts'
export { toolText } from './tool-text.ts'
export { codePointLength, truncate } from './truncate.ts'
export { EMPTY_MESSAGE, serverWords, shownSource, turnText } from './turn-text.ts'
export { TURN_TOKENS, turnTokens } from './turn-tokens.ts'
export { createVerdictWait } from './verdict-wait.ts'
export { versionOf } from './version-of.ts'
export { createWorkTime, tookTooLong, type WorkTime } from './work-time.ts'
export {
  createCarefulReader,
  type ReadCarefully,
  type RunTask,
  UnreadableInputError,
} from './workers/read-carefully.ts'
export { createTaskWorker, workerFile } from './workers/task-worker.ts'
export { neutraliseChannelTags, wrapChannel } from './wrap-channel.ts'
