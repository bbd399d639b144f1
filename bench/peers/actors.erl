%% The rows of bench/actor_workloads.hpp with processes of the BEAM; crash with an OTP supervisor.
%% Prints one sample a line, in the row's unit. To be started with `+S 2:2`:
%%
%%     erl +S 2:2 -noinput -pa FOLDER -run actors main ROW SAMPLES
-module(actors).
-export([main/1, init/1, handle_call/3, handle_cast/2]).

-define(PING_PONG, 100000).
-define(PRODUCERS, 8).
-define(FAN_IN, 50000).
-define(RING, 503).
-define(HOPS, 100000).
-define(SPAWNS, 100000).
%% A supervisor walks the list of its latest restarts at each one, so none has many behind it.
-define(CRASHES_OF_ONE, 20).

main([Row, Samples]) ->
    logger:set_primary_config(level, none),
    lists:foreach(fun(Sample) -> io:format("~.6f~n", [Sample * 1.0]) end,
                  run(list_to_atom(Row), list_to_integer(Samples))),
    halt(0).

run(ping_pong, N) -> sample(N, fun() -> seconds_of_ring(2, ?PING_PONG) * 1.0e9 / ?PING_PONG end);
run(ring, N) -> sample(N, fun() -> 1.0e-6 * ?HOPS / seconds_of_ring(?RING, ?HOPS) end);
run(fan_in, N) -> sample(N, fun() -> fan_in(on_heap) end);
run(fan_in_off_heap, N) -> sample(N, fun() -> fan_in(off_heap) end);
run(spawn_inside, N) -> sample(N, fun spawn_inside/0);
run(idle_bytes, _) -> [idle_bytes(fun child/0)];
run(idle_bytes_hibernated, _) -> [idle_bytes(fun hibernating_child/0)];
run(ask_inside, N) -> ask(N, spawn(fun echo/0), fun ask/1);
run(ask_gen_server, N) ->
    {ok, Server} = gen_server:start(?MODULE, echo, []),
    ask(N, Server, fun(To) -> gen_server:call(To, ping, infinity) end);
run(crash, N) -> crashes(N).

%% As the others do: one sample more than asked, the first not counted.
sample(N, Measure) ->
    Measure(),
    [Measure() || _ <- lists:seq(1, N)].

seconds_since(Start) -> (erlang:monotonic_time(nanosecond) - Start) * 1.0e-9.

%% --- ping-pong and ring

seconds_of_ring(Players, Hops) ->
    Main = self(),
    [First | _] = Ring = [spawn(fun() -> player(Main) end) || _ <- lists:seq(1, Players)],
    lists:foreach(fun({Each, Next}) -> Each ! {meet, Next} end,
                  lists:zip(Ring, tl(Ring) ++ [First])),
    Start = erlang:monotonic_time(nanosecond),
    First ! Hops,
    receive done -> ok end,
    Seconds = seconds_since(Start),
    lists:foreach(fun(Each) -> Each ! part end, Ring),
    Seconds.

player(Main) -> receive {meet, Next} -> play(Main, Next) end.

play(Main, Next) ->
    receive
        0 -> Main ! done, play(Main, Next);
        part -> ok;
        Left -> Next ! Left - 1, play(Main, Next)
    end.

%% --- fan-in

fan_in(Queue) ->
    Main = self(),
    Messages = ?PRODUCERS * ?FAN_IN,
    Sink = spawn_opt(fun() -> sink(Messages), Main ! done end, [{message_queue_data, Queue}]),
    From = [spawn(fun() -> receive go -> produce(Sink, ?FAN_IN) end end)
            || _ <- lists:seq(1, ?PRODUCERS)],
    Start = erlang:monotonic_time(nanosecond),
    lists:foreach(fun(Each) -> Each ! go end, From),
    receive done -> ok end,
    1.0e-6 * Messages / seconds_since(Start).

produce(_, 0) -> ok;
produce(Sink, Left) -> Sink ! Left, produce(Sink, Left - 1).

sink(0) -> ok;
sink(Left) -> receive _ -> sink(Left - 1) end.

%% --- spawning

child() -> receive {hello, From} -> From ! answer end.

spawn_inside() ->
    Main = self(),
    Sink = spawn(fun() -> sink(?SPAWNS), Main ! done end),
    Start = erlang:monotonic_time(nanosecond),
    spawn(fun() -> spawn_children(Sink, ?SPAWNS) end),
    receive done -> ok end,
    1.0e-3 * ?SPAWNS / seconds_since(Start).

spawn_children(_, 0) -> ok;
spawn_children(Sink, Left) ->
    spawn(fun child/0) ! {hello, Sink},
    spawn_children(Sink, Left - 1).

hibernating_child() ->
    child(),
    erlang:hibernate(timer, sleep, [infinity]).

idle_bytes(Child) ->
    Live = fun() -> Child(), receive never -> ok end end,
    Main = self(),
    Sink = spawn(fun() -> sink(?SPAWNS), Main ! done end),
    Before = resident_bytes(),
    _Idle = [begin Pid = spawn(Live), Pid ! {hello, Sink}, Pid end || _ <- lists:seq(1, ?SPAWNS)],
    receive done -> ok end,
    erlang:garbage_collect(),
    timer:sleep(200),
    (resident_bytes() - Before) / ?SPAWNS.

resident_bytes() ->
    {ok, Statm} = file:read_file("/proc/self/statm"),
    [_, Resident | _] = string:lexemes(binary_to_list(Statm), " "),
    list_to_integer(Resident) * 4096.

%% --- asking

echo() -> receive {From, Reference, Value} -> From ! {Reference, Value}, echo() end.

ask(To) ->
    Reference = make_ref(),
    To ! {self(), Reference, 1},
    receive {Reference, 1} -> ok end.

ask(N, To, Ask) -> [latency(fun() -> Ask(To) end) || _ <- lists:seq(1, N)].

latency(Function) ->
    Start = erlang:monotonic_time(nanosecond),
    Function(),
    seconds_since(Start) * 1.0e6.

%% --- a crash and its replacement

crashes(N) when N =< 0 -> [];
crashes(N) ->
    {ok, Supervisor} = supervisor:start_link(?MODULE, {supervise, self()}),
    Latencies = crash_often(await_worker(), ?CRASHES_OF_ONE),
    unlink(Supervisor),
    exit(Supervisor, shutdown),
    Latencies ++ crashes(N - ?CRASHES_OF_ONE).

crash_often(_, 0) -> [];
crash_often(Worker, Left) ->
    Start = erlang:monotonic_time(nanosecond),
    gen_server:cast(Worker, crash),
    Next = await_worker(),
    Latency = seconds_since(Start) * 1.0e6,
    [Latency | crash_often(Next, Left - 1)].

await_worker() ->
    receive {up, Worker} -> pong = gen_server:call(Worker, ping, infinity), Worker end.

init({supervise, Client}) ->
    Worker = #{id => worker, start => {gen_server, start_link, [?MODULE, {work, Client}, []]}},
    {ok, {#{strategy => one_for_one, intensity => 1000, period => 1}, [Worker]}};
init({work, Client}) ->
    Client ! {up, self()},
    {ok, none};
init(echo) -> {ok, none}.

handle_call(ping, _, State) -> {reply, pong, State}.
handle_cast(crash, _) -> error(crash).
