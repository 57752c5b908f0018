// What adapter authors share. It contains no platform, no store and no session.

export type { LinkState } from '../contract/index.ts'
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
export { createOutboxFeed } from './feed/outbox-feed.ts'
export type { FeedEvent, FeedReader, FeedRow, LiveRow } from './feed/outbox-reader.ts'
export { newestSeq, rowsOnTheirWay } from './feed/outbox-rows.ts'
export { visitPassed } from './feed/passed-positions.ts'
export { fitHoles, MAX_HOLES, parsePosition } from './feed/position.ts'
export { formatSse } from './feed/sse.ts'
export { safeFileName, safeMime } from './files/file-names.ts'
export { createFileStore, type FetchedQuota, type FileStore, overLimit } from './files/file-store.ts'
export { filesOf } from './files/message-files.ts'
export { createSharedFolder } from './files/shared-folder.ts'
export {
  type ApiAnswer,
  asksToWait,
  createApiClient,
} from './http/api-client.ts'
export {
  ApiError,
  createRefusals,
  type Failure,
  type FailureTable,
  failures,
  isRefusal,
  isStatus,
  statusError,
} from './http/failures.ts'
export {
  createGuardedFetch,
  type GuardedFetch,
  type GuardedRequest,
  type GuardedResponse,
  urlRefusal,
} from './http/guarded-fetch.ts'
export { handOverError, isGatewayFault } from './http/hand-over-error.ts'
export { equalSecrets, hmacKey, signSha256, verifySha256 } from './http/hmac.ts'
export { createJwtVerifier, type JwtVerdict } from './http/jwt.ts'
export { multipartForm } from './http/multipart.ts'
export { sentByOtherSite } from './http/request-origin.ts'
export { retryAfterMs } from './http/retry-after.ts'
export {
  ed25519PublicKey,
  type StandardKey,
  signStandard,
  standardKey,
  verifyStandard,
} from './http/standard-webhooks.ts'
export { createStreamingFetch, type StreamingFetch } from './http/streaming-fetch.ts'
export { isVendorUrl, type VendorServer } from './http/vendor-url.ts'
export { backoffMs } from './link/backoff.ts'
export { createChatPace } from './link/chat-pace.ts'
export type { Link, LinkAttempt, LinkEnding } from './link/link.ts'
export { type MemoizedAsync, memoizeAsync } from './link/memoize-async.ts'
export { pause } from './link/pause.ts'
export { startLink } from './link/start-link.ts'
export { refusalWord } from './refusal-word.ts'
export { TRIAL_TIMEOUT_MS, trialOf } from './trial.ts'
export { codePointLength, truncate } from './truncate.ts'
export { bindingContext } from './turn/binding-context.ts'
export { contextBlock } from './turn/context-lines.ts'
export { inputText, isNestedDeeper } from './turn/input-text.ts'
export { type AnewStanding, anewStanding, askWhetherAnew, maybeAgainWords } from './turn/restart-approval.ts'
export { toolText } from './turn/tool-text.ts'
export { EMPTY_MESSAGE, serverWords, shownSource, turnText } from './turn/turn-text.ts'
export { TURN_TOKENS, turnTokens } from './turn/turn-tokens.ts'
export { createVerdictWait } from './turn/verdict-wait.ts'
export { createWorkTime, tookTooLong, type WorkTime } from './turn/work-time.ts'
export { neutraliseChannelTags, wrapChannel } from './turn/wrap-channel.ts'
export { versionOf } from './version-of.ts'
export {
  createCarefulReader,
  type ReadCarefully,
  type RunTask,
  UnreadableInputError,
} from './workers/read-carefully.ts'
export { createTaskWorker, workerFile } from './workers/task-worker.ts'
