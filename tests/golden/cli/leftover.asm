# What ping-pong of the outer loop leaves behind orders nothing any more.
set  MTE2 V 0
set  MTE2 MTE3 0
V    vadd elements=256 src=ub:1024 src2=ub:2048 dst=ub:2048
V    relu elements=256 src=ub:0 dst=ub:1024
set  V MTE3 0
MTE2 gm->ub bytes=512 src=gm:3072 dst=ub:1536
wait V MTE3 0
loop i 2
  wait MTE2 V 0
  V    relu elements=256 src=ub:512 dst=ub:0
  set  V MTE2 0
  wait MTE2 MTE3 0
  MTE3 ub->gm bytes=512 src=ub:512+512*i dst=gm:77824+512*i
  set  MTE3 MTE2 0
  wait V MTE2 0
  wait MTE3 MTE2 0
  loop j 4
    MTE2 gm->ub bytes=512 src=gm:2560+512*i dst=ub:512
    MTE3 ub->gm bytes=512 src=ub:2048 dst=gm:74752
  end
  set  MTE2 V 0
  MTE2 gm->ub bytes=512 src=gm:0+512*i dst=ub:1536
  set  MTE2 MTE3 0
end
V    relu elements=256 src=ub:0 dst=ub:2560
wait MTE2 V 0
wait MTE2 MTE3 0
