"""A bare client: the calls of Spark Connect as messages, for what PySpark itself never sends."""

import json
import uuid

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from pyspark.sql.connect import proto

GREAT = 2**31 - 1
OPTIONS = [("grpc.max_receive_message_length", GREAT), ("grpc.max_send_message_length", GREAT)]


def details(error: grpc.RpcError) -> error_details_pb2.ErrorInfo:
    """What the server says of an error in its trailer; empty where it says nothing."""
    info = error_details_pb2.ErrorInfo()
    status = rpc_status.from_call(error)
    for detail in status.details if status else ():
        if detail.Unpack(info):
            break
    return info


def condition(error: grpc.RpcError) -> str | None:
    """The condition of an error, such as DIVIDE_BY_ZERO; None where it has none."""
    return details(error).metadata.get("errorClass")


def parameters(error: grpc.RpcError) -> dict:
    return json.loads(details(error).metadata.get("messageParameters", "{}"))


def range_plan(end: int, start: int = 0, partitions: int | None = None) -> proto.Plan:
    plan = proto.Plan()
    plan.root.range.start = start
    plan.root.range.end = end
    plan.root.range.step = 1
    if partitions:
        plan.root.range.num_partitions = partitions
    return plan


def sql_plan(text: str) -> proto.Plan:
    plan = proto.Plan()
    plan.root.sql.query = text
    return plan


def kept_plan(identifier: str) -> proto.Plan:
    plan = proto.Plan()
    plan.root.cached_remote_relation.relation_id = identifier
    return plan


def rows_of(responses) -> int:
    return sum(r.arrow_batch.row_count for r in responses if r.WhichOneof("response_type") == "arrow_batch")


class Wire:
    """A session of a user, by messages."""

    def __init__(self, port: int, user: str = "", session: str | None = None, metadata=(), fresh_connection=False):
        options = OPTIONS + ([("grpc.use_local_subchannel_pool", 1)] if fresh_connection else [])
        self.channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=options)
        self.stub = proto.SparkConnectServiceStub(self.channel)
        self.user = user
        self.session = session or str(uuid.uuid4())
        self.metadata = list(metadata)

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_) -> None:
        self.channel.close()

    def address(self, request):
        """The request, as coming from this session."""
        request.session_id = self.session
        request.user_context.user_id = self.user
        return request

    def call(self, method: str, request, **options):
        options.setdefault("timeout", 60)
        return getattr(self.stub, method)(self.address(request), metadata=self.metadata, **options)

    def stream(self, plan: proto.Plan, operation: str | None = None, reattachable: bool = False, tags=(), **options):
        request = proto.ExecutePlanRequest(plan=plan, tags=tags)
        if operation:
            request.operation_id = operation
        if reattachable:
            request.request_options.add().reattach_options.reattachable = True
        return self.call("ExecutePlan", request, **options)

    def execute(self, plan: proto.Plan, **options) -> list:
        return list(self.stream(plan, **options))

    def reattach(self, operation: str, last: str | None = None, **options):
        request = proto.ReattachExecuteRequest(operation_id=operation)
        if last:
            request.last_response_id = last
        return self.call("ReattachExecute", request, **options)

    def release(self, operation: str, until: str | None = None):
        request = proto.ReleaseExecuteRequest(operation_id=operation)
        if until:
            request.release_until.response_id = until
        else:
            request.release_all.SetInParent()
        return self.call("ReleaseExecute", request)

    def interrupt(self, operation: str | None = None, tag: str | None = None) -> list:
        request = proto.InterruptRequest(interrupt_type=proto.InterruptRequest.INTERRUPT_TYPE_ALL)
        if operation:
            request.interrupt_type = proto.InterruptRequest.INTERRUPT_TYPE_OPERATION_ID
            request.operation_id = operation
        if tag:
            request.interrupt_type = proto.InterruptRequest.INTERRUPT_TYPE_TAG
            request.operation_tag = tag
        return list(self.call("Interrupt", request).interrupted_ids)

    def states(self) -> dict:
        """The states of the session's operations, by id."""
        request = proto.GetStatusRequest()
        request.operation_status.SetInParent()
        answer = self.call("GetStatus", request)
        names = proto.GetStatusResponse.OperationStatus.OperationState
        return {s.operation_id: names.Name(s.state).removeprefix("OPERATION_STATE_") for s in answer.operation_statuses}

    def schema(self, plan: proto.Plan):
        request = proto.AnalyzePlanRequest()
        request.schema.plan.CopyFrom(plan)
        return self.call("AnalyzePlan", request).schema.schema

    def config_get(self, key: str) -> str:
        request = proto.ConfigRequest()
        request.operation.get.keys.append(key)
        return self.call("Config", request).pairs[0].value

    def config_set(self, **pairs: str):
        request = proto.ConfigRequest()
        for key, value in pairs.items():
            request.operation.set.pairs.add(key=key, value=value)
        return self.call("Config", request)

    def release_session(self, reconnect: bool = False):
        return self.call("ReleaseSession", proto.ReleaseSessionRequest(allow_reconnect=reconnect))

    def checkpoint(self, plan: proto.Plan, eager: bool = True, local: bool = True, **options) -> str:
        command = proto.Plan()
        command.command.checkpoint_command.relation.CopyFrom(plan.root)
        command.command.checkpoint_command.local = local
        command.command.checkpoint_command.eager = eager
        for response in self.execute(command, **options):
            if response.HasField("checkpoint_command_result"):
                return response.checkpoint_command_result.relation.relation_id
        raise AssertionError("no checkpoint_command_result")

    def remove(self, identifier: str, **options) -> list:
        command = proto.Plan()
        command.command.remove_cached_remote_relation_command.relation.relation_id = identifier
        return self.execute(command, **options)

    def is_alive(self) -> bool:
        """Whether the session answers."""
        return rows_of(self.execute(range_plan(3))) == 3
